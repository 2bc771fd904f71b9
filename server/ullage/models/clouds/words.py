"""What the clouds refuse, in words for the user: which account, region, model or quota it is about, and what to do there.

The kinds of errors are those of the service model `bedrock-runtime` of botocore, and of Google's `google.rpc.Code`. Their sentences have no
codes, so the words that tell them apart are matched, as error reports in public issue trackers quote them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ullage.models.endpoint_checks import mapping, string
from ullage.models.errors import (
    BEDROCK,
    VERTEX,
    CloudRefused,
    Endpoint,
    EndpointUnreachable,
    ErrorResponse,
    ModelError,
    Overloaded,
    UnknownModel,
    quoted,
)

SIGN_IN_AWS = "Sign in again (`aws sso login`), or set another key, then press Continue."
SIGN_IN_GOOGLE = "Sign in again with `gcloud auth application-default login`, then press Continue."
_A_DAY = ("per day", "per_day", "daily")


def cloud_refusal(problem: ErrorResponse, said: str, endpoint: Endpoint) -> ModelError | None:
    """The error behind an answer of a cloud where waiting does not help; None if other endpoints answer like that, too. `said` are the
    cloud's own words."""
    said = said.rstrip(".")  # it stands within a sentence
    if endpoint.api is BEDROCK:
        return _of_bedrock(problem, said, endpoint)
    return _of_vertex(problem, said, endpoint) if endpoint.api is VERTEX else None


def _of_bedrock(problem: ErrorResponse, said: str, endpoint: Endpoint) -> ModelError | None:
    status, low = problem.response.status_code, said.lower()
    kind = (
        problem.response.headers.get("x-amzn-errortype", "").partition(":")[0] or string(mapping(problem.body), "__type").rpartition("#")[2]
    )
    name, model = endpoint.name, endpoint.model
    if kind == "ServiceQuotaExceededException" or (status == 429 and any(words in low for words in _A_DAY)):
        return Overloaded(
            f"The quota of this account at {name} is used up: {said}. Choose another model with `/model`, or ask for more under "
            "Service Quotas in the console of AWS, then press Continue."
        )
    if "expired" in low and status in (400, 401, 403):
        if "signature" in low:
            return CloudRefused(f"{name} does not accept the signature: {said}. Check the clock of this machine, then press Continue.")
        return CloudRefused(f"The credentials for {name} have expired: {said}. {SIGN_IN_AWS}")
    if kind == "AccessDeniedException" and "access to the model" in low:
        return CloudRefused(
            f"This account has no access to the model `{model}` at {name}: {said}. Ask for it in the console of Bedrock, or choose another "
            "model with `/model`."
        )
    if kind == "AccessDeniedException" and "authorized" in low:
        return CloudRefused(
            f"These credentials may not ask the model `{model}` at {name}: {said}. They need the permission "
            "bedrock:InvokeModelWithResponseStream."
        )
    if "use case details" in low or "marketplace" in low:
        return CloudRefused(
            f"{name} wants something of this account first: {said}. Do that in the console of Bedrock, then press Continue."
        )
    if status in (401, 403):
        return CloudRefused(
            f"{name} does not accept the credentials: {said}. Check AWS_PROFILE and the keys of AWS, or the setting "
            '"Ullage › Bedrock: Profile".'
        )
    if "on-demand throughput" in low:
        return UnknownModel(
            f"{name} has the model `{model}` by a profile of inference alone: {said}. Choose its name with the region before it, such as "
            f"`us.{model}` or `global.{model}`."
        )
    if status == 404 or "model identifier" in low:
        return UnknownModel(
            f"{name} does not know the model `{model}`: {said}. Choose another with `/model`, or another region in the setting "
            '"Ullage › Bedrock: Region".'
        )
    return None


def _of_vertex(problem: ErrorResponse, said: str, endpoint: Endpoint) -> ModelError | None:
    status, low = problem.response.status_code, said.lower()
    name, model = endpoint.name, endpoint.model
    if status == 401:
        return CloudRefused(f"{name} does not accept the credentials: {said}. {SIGN_IN_GOOGLE}")
    if status == 403 and "billing" in low:
        return CloudRefused(f"{name} says that the project pays for nothing: {said}. Enable billing for it, then press Continue.")
    if status == 403 and ("has not been used" in low or "disabled" in low):
        return CloudRefused(f"The Vertex AI API is not enabled for the project: {said}. Enable it there, then press Continue.")
    if status == 403:
        return CloudRefused(
            f"These credentials may not ask the model `{model}` at {name}: {said}. They need the role Vertex AI User in the project of the "
            'setting "Ullage › Vertex: Project".'
        )
    if status == 404 or (status == 400 and ("publisher model" in low or "not servable" in low or "not supported in" in low)):
        return UnknownModel(
            f"{name} does not have the model `{model}` for this project: {said}. Enable it in the Model Garden, choose another with "
            '`/model`, or another region in the setting "Ullage › Vertex: Region".'
        )
    if status == 429 and any(words in low for words in _A_DAY):
        return Overloaded(
            f"The quota of this project at {name} is used up: {said}. Choose another model with `/model`, or ask for more under Quotas in "
            "the console of Google Cloud, then press Continue."
        )
    return None


def credentials_refusal(problem: BaseException, endpoint: Endpoint) -> ModelError | None:
    """The error behind what AWS's or Google's own library raised for want of credentials, or while it asked for them; None for anything
    else."""
    for cause in _causes(problem):
        library = type(cause).__module__.partition(".")[0]
        said = quoted(str(cause.args[0] if cause.args else cause), endpoint, 300).rstrip(".")  # Google's add a value to the words
        if library in ("botocore", "boto3") or "resolve AWS credentials" in said:
            return _of_botocore(type(cause).__name__, said, endpoint)
        if type(cause).__module__ == "google.auth.exceptions":
            return _of_google(type(cause).__name__, said, endpoint)
    return None


def _of_botocore(kind: str, said: str, endpoint: Endpoint) -> ModelError:
    if "resolve AWS credentials" in said or kind == "NoCredentialsError":
        return CloudRefused(
            f"There are no credentials for {endpoint.name} on this machine. Sign in with `aws configure` or `aws sso login`, name a "
            'profile in the setting "Ullage › Bedrock: Profile", or set a key of Bedrock as AWS_BEARER_TOKEN_BEDROCK in the environment.'
        )
    if kind == "ProfileNotFound":
        return CloudRefused(f'{said}. Check the setting "Ullage › Bedrock: Profile" and AWS_PROFILE in the environment.')
    if "Connection" in kind or "Timeout" in kind:
        return EndpointUnreachable(f"The credentials for {endpoint.name} could not be asked for: {said}. Check the network.")
    return CloudRefused(f"The credentials for {endpoint.name} cannot be used: {said}. {SIGN_IN_AWS}")


def _of_google(kind: str, said: str, endpoint: Endpoint) -> ModelError:
    if kind == "TransportError":
        return EndpointUnreachable(f"The credentials for {endpoint.name} could not be asked for: {said}. Check the network.")
    return CloudRefused(f"The credentials for {endpoint.name} cannot be used: {said}. {SIGN_IN_GOOGLE}")


def _causes(problem: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = problem
    for _ in range(10):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__
