/** What goes wrong with Claude in a cloud, and what can be said of one in the settings. */

import { known } from "./known";

export const CLOUDS: readonly string[] = [
  known("runtime of Amazon Bedrock"),
  known("API of Vertex AI"),
  known(
    "Amazon Bedrock needs the package boto3, which is not installed beside Ullage. Install it with `pip install ullage[bedrock]` (in VS Code *Ullage: Connect a model…* does that), or set a key of Bedrock as AWS_BEARER_TOKEN_BEDROCK in the environment, which works without it.",
  ),
  known(
    'Amazon Bedrock is asked in a region, and none is set. Enter one in the setting "Ullage › Bedrock: Region", such as us-east-1, or set AWS_REGION in the environment.',
  ),
  known("Amazon Bedrock cannot be asked: {why}"),
  known("{name} does not list its models to you (HTTP {status})."),
  known("{name} answers, but lists no model of Claude's."),
  known('The profile of AWS cannot be used: {problem}. Check the setting "Ullage › Bedrock: Profile" and AWS_PROFILE.'),
  known("bytes that are no event stream of Amazon"),
  known("an event whose checksum is wrong"),
  known("an event with headers that cannot be read"),
  known("an event that is no base64"),
  known('{region} is no region of AWS. One looks like us-east-1. Enter it in the setting "Ullage › Bedrock: Region".'),
  known('{region} is no region of Google Cloud. One looks like global or europe-west1. Enter it in the setting "Ullage › Vertex: Region".'),
  known('{project} is no id of a Google Cloud project. One looks like my-project-123. Enter it in the setting "Ullage › Vertex: Project".'),
  known(
    "Google Vertex AI needs the package google-auth, which is not installed beside Ullage. Install it with `pip install ullage[vertex]` (in VS Code *Ullage: Connect a model…* does that).",
  ),
  known(
    'Google Vertex AI is asked for a project, and none is set. Enter its id in the setting "Ullage › Vertex: Project", or set GOOGLE_CLOUD_PROJECT in the environment.',
  ),
  known(
    "There are no credentials for Google Cloud on this machine. Sign in with `gcloud auth application-default login`, or name the file of a service account in {variable}.",
  ),
  known("The credentials in {file} cannot be used: {problem}"),
  known("Sign in again (`aws sso login`), or set another key, then press Continue."),
  known("Sign in again with `gcloud auth application-default login`, then press Continue."),
  known(
    "The quota of this account at {name} is used up: {said}. Choose another model with `/model`, or ask for more under Service Quotas in the console of AWS, then press Continue.",
  ),
  known("{name} does not accept the signature: {said}. Check the clock of this machine, then press Continue."),
  known("The credentials for {name} have expired: {said}. {hint}"),
  known(
    "This account has no access to the model `{model}` at {name}: {said}. Ask for it in the console of Bedrock, or choose another model with `/model`.",
  ),
  known(
    "These credentials may not ask the model `{model}` at {name}: {said}. They need the permission bedrock:InvokeModelWithResponseStream.",
  ),
  known("{name} wants something of this account first: {said}. Do that in the console of Bedrock, then press Continue."),
  known(
    '{name} does not accept the credentials: {said}. Check AWS_PROFILE and the keys of AWS, or the setting "Ullage › Bedrock: Profile".',
  ),
  known(
    "{name} has the model `{model}` by a profile of inference alone: {said}. Choose its name with the region before it, such as `us.{model}` or `global.{model}`.",
  ),
  known(
    '{name} does not know the model `{model}`: {said}. Choose another with `/model`, or another region in the setting "Ullage › Bedrock: Region".',
  ),
  known("{name} does not accept the credentials: {said}. {hint}"),
  known("{name} says that the project pays for nothing: {said}. Enable billing for it, then press Continue."),
  known("The Vertex AI API is not enabled for the project: {said}. Enable it there, then press Continue."),
  known(
    'These credentials may not ask the model `{model}` at {name}: {said}. They need the role Vertex AI User in the project of the setting "Ullage › Vertex: Project".',
  ),
  known(
    '{name} does not have the model `{model}` for this project: {said}. Enable it in the Model Garden, choose another with `/model`, or another region in the setting "Ullage › Vertex: Region".',
  ),
  known(
    "The quota of this project at {name} is used up: {said}. Choose another model with `/model`, or ask for more under Quotas in the console of Google Cloud, then press Continue.",
  ),
  known(
    'There are no credentials for {name} on this machine. Sign in with `aws configure` or `aws sso login`, name a profile in the setting "Ullage › Bedrock: Profile", or set a key of Bedrock as AWS_BEARER_TOKEN_BEDROCK in the environment.',
  ),
  known('{said}. Check the setting "Ullage › Bedrock: Profile" and AWS_PROFILE in the environment.'),
  known("The credentials for {name} could not be asked for: {said}. Check the network."),
  known("The credentials for {name} cannot be used: {said}. {hint}"),
  known("Check the region and the network."),
  known("a region of AWS such as us-east-1, or empty"),
  known("the name of a profile of AWS, or empty"),
  known("a region of Google Cloud such as global or europe-west1, or empty"),
  known("the id of a Google Cloud project, or empty"),
];
