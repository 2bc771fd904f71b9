"""Claude in the clouds of others: Amazon Bedrock and Google Vertex AI, by the SDK's own clients."""
