import BackgroundTasks

// A desktop app, not a plugin: it submits a continued task for its user, and runs the task itself.
// A test reads the output while the app runs, so each line must be written at once.
setvbuf(stdout, nil, _IOLBF, 0)
let scheduler = BGTaskScheduler.shared
scheduler.register(forTaskWithIdentifier: "org.example.desktop.export.*", using: nil) { task in
    guard let task = task as? BGContinuedProcessingTask else { exit(2) }
    print("launched \(task.identifier): \(task.title), attempt \(task.attempt)")
    task.progress.totalUnitCount = 4
    task.progress.completedUnitCount = 1
    if task.identifier.hasSuffix("endless") {
        task.expirationHandler = {
            print("expires: \(task.expirationReason?.rawValue ?? "no reason")")
            task.setTaskCompleted(success: false)
            exit(0)
        }
        return
    }
    task.progress.completedUnitCount = 4
    task.updateTitle("Exported", subtitle: "4 of 4")
    task.setTaskCompleted(success: true)
    exit(0)
}

scheduler.register(forTaskWithIdentifier: "org.example.desktop.refresh", using: nil) { task in
    task.setTaskCompleted(success: true)
}

// The queue of this registration runs its two launches one after the other.
let inside = NSLock()
var left = 2
scheduler.register(forTaskWithIdentifier: "org.example.desktop.pair.*", using: nil) { task in
    print("\(task.identifier) alone: \(inside.try())")
    Thread.sleep(forTimeInterval: 0.5)
    inside.unlock()
    task.setTaskCompleted(success: true)
    left -= 1
    if left == 0 { exit(0) }
}

let name = CommandLine.arguments.dropFirst().first ?? "album"
let request = BGContinuedProcessingTaskRequest(
    identifier: "org.example.desktop.export.\(name)", title: "Export", subtitle: "begins")
if name == "pair" {
    for label in ["one", "two"] {
        try scheduler.submit(
            BGContinuedProcessingTaskRequest(
                identifier: "org.example.desktop.pair.\(label)", title: label, subtitle: "of two"))
    }
    RunLoop.main.run()
}
if name == "impatient" {
    request.strategy = .fail
    do {
        try scheduler.submit(request)
    } catch BGTaskScheduler.Error.immediateRunIneligible {
        print("it can't start at once")
        exit(0)
    }
    RunLoop.main.run()
}
Task {
    do {
        try scheduler.submit(BGAppRefreshTaskRequest(identifier: "org.example.desktop.refresh"))
        print("pending \(await scheduler.pendingTaskRequests().map(\.identifier))")
        scheduler.cancel(taskRequestWithIdentifier: "org.example.desktop.refresh")
        print("left \(await scheduler.pendingTaskRequests().count)")
    } catch {
        print("refresh refused: \(error.localizedDescription)")
    }
    do {
        try scheduler.submit(request)
    } catch {
        print("refused: \(error.localizedDescription)")
        exit(1)
    }
}
RunLoop.main.run()
