"""Heavy work of the whole server: one worker process, and one fair queue in front of it.

`table` lists the jobs. `queue` decides which job is next. `worker` runs jobs in a separate process; `process` starts
that process and exchanges `messages` with it. `sessions` gives pages access to the queue.
"""
