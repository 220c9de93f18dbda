"""The offline path: from sources to a live generation, and rights over everything that exists.

Takes: folders, files, access rules, commands of an operator. Returns: reports and manifests.
Called by: cli and the evaluation, through `story.Offline`.
Never does: answer a question, or change what is live except by the one alias call.
"""
