// e -l objc -- (void)[[BGTaskScheduler sharedScheduler] _simulateLaunchForTaskWithIdentifier:@"x"]
#if !os(Linux)
    import BackgroundTasks

    func submit() throws {
        #if os(iOS)
            try BGTaskScheduler.shared.submit(BGProcessingTaskRequest(identifier: "com.example.feed.refresh"))
        #endif
    }
#endif
