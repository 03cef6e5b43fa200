import BackgroundTasks

#if os(macOS)
    let activity = NSBackgroundActivityScheduler(identifier: "org.example.tidy")
#endif
