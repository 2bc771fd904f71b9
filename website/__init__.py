"""The site of the documentation: `npm run docs` makes it from docs/ and from the documents at the root of the repository.

- `pages.py`: which pages there are, and in what order they stand
- `gathering.py`: the pages in a folder of their own, with links that hold there
- `building.py`: the generator's configuration, and its run
- `checking.py`: what a browser would load from elsewhere: nothing

Nothing of the server uses it.
"""
