"""Heavy work of the whole server: a worker process, and one fair queue in front of it.

What can be asked for stands in `table`. `queue` decides who is next, `worker` works, in a process of its own that
`process` starts and hears, in the words of `messages`; `sessions` joins them to the visitors of this server.
"""
