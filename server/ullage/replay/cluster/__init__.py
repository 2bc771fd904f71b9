"""The work of `ullage replay` over many machines, by Dask's scheduler. Nothing here is imported where no scheduler is asked for."""
