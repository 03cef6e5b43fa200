"""The benchmarks of a whole host: client, socket, core, store, launcher and tasks, beside peers and
floors."""
