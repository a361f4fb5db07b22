"""A fabric in real FRR daemons: each device in a network namespace of its own, a veth for each cable."""
