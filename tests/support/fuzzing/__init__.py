"""The standing fuzzer: mutated inputs through every reader and command, guided by coverage; `make fuzz` runs it.

targets     the formats, what is done with an input of each, and what counts as a crash
corpora     where inputs begin: builds of intents, examples of rules, tests
mutation    edits of documents and lines
coverage    which blocks of nodrop an input reaches
trial       one input, with limits of time and memory
minimize    the smallest input that still crashes the same way
worker      a process that tries inputs of a campaign
campaign    the loop, its workers, and its state on disk, which a later run resumes
"""
