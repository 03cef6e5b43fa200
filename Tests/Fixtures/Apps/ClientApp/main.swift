import BackgroundTasks

// An app that keeps running: each line of its input is a command, and the app prints the results.
let scheduler = BGTaskScheduler.shared
scheduler.register(forTaskWithIdentifier: "org.example.client.export.*", using: nil) { task in
    let task = task as! BGContinuedProcessingTask
    task.expirationHandler = {
        print("expires \(task.identifier): \(task.expirationReason?.rawValue ?? "no reason")")
        task.setTaskCompleted(success: false)
    }
    task.progress.totalUnitCount = 4
    task.progress.completedUnitCount = 1
    print("launched \(task.identifier)")
    guard !task.identifier.hasSuffix("endless") else { return }
    task.progress.completedUnitCount = 4
    task.setTaskCompleted(success: true)
}
scheduler.register(forTaskWithIdentifier: "org.example.client.refresh", using: nil) { task in
    print("refreshed")
    task.setTaskCompleted(success: true)
}

setvbuf(stdout, nil, _IOLBF, 0)
print("begun")
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    switch words[0] {
    case "submit", "gpu":
        let request = BGContinuedProcessingTaskRequest(
            identifier: "org.example.client.export.\(words[1])", title: "Export", subtitle: "begins")
        request.requiredResources = words[0] == "gpu" ? .gpu : []
        do {
            try scheduler.submit(request)
            print("submitted \(words[1])")
        } catch {
            print("refused \(words[1]): \(error.localizedDescription)")
        }
    case "resources":
        print("resources: \(BGTaskScheduler.supportedResources.contains(.gpu) ? "gpu" : "none")")
    default:
        print("low power \(ProcessInfo.processInfo.isLowPowerModeEnabled)")
    }
}
