import TaskModel

@testable import RunnerWire

extension GoldenCase {
    static let all: [GoldenCase] = hostToTask + taskToHost + hostToLauncher + launcherToHost

    static let hostToTask: [GoldenCase] = [
        GoldenCase("launch-full", fullLaunch),
        GoldenCase(
            "launch-minimal",
            TaskLaunchMessage(
                launch: 1, request: 1, identifier: "a", bundle: "b", taskKind: .appRefresh, attempt: 1,
                token: 1,
                dataDirectory: "/d", temporaryDirectory: "/t")),
        GoldenCase("payload", PayloadMessage(bytes: Array(#"{"album":7}"#.utf8))),
        GoldenCase("restored-checkpoint", RestoredCheckpointMessage(bytes: [0, 1, 2, 255])),
        GoldenCase("program", ProgramMessage(bytes: Array(0..<16))),
        GoldenCase("start", StartMessage()),
        GoldenCase(
            "command",
            CommandMessage(
                CommandStart(
                    words: ["/bin/ls", "-l"], environment: ["A=1"], directory: "/d", readsPayload: true,
                    success: [0, 3], stopSignal: 15, stopsGroup: false))),
        GoldenCase(
            "command-progress",
            CommandMessage(
                {
                    var start = CommandStart(
                        words: ["rsync"], environment: [], directory: "/d", readsPayload: false, success: [0],
                        stopSignal: 15, stopsGroup: false)
                    start.progressPattern = "([0-9]+)%"
                    return start
                }())),
        GoldenCase(
            "expire-lease", TaskExpireMessage(reason: "leaseEnded", grace: 5000, deadline: 987_654_321_000)),
        GoldenCase("reply-ok", ReplyMessage(call: 1, error: 0)),
        GoldenCase(
            "reply-refused",
            ReplyMessage(call: 2, error: 2, text: "10 of 10 pending requests are taken. Cancel one.")),
        GoldenCase(
            "reply-pending",
            ReplyMessage(
                call: 3, error: 0,
                pending: [
                    .init(
                        request: 17, taskKind: .appRefresh, identifier: "com.example.a", earliest: nil,
                        externalPower: false, network: false),
                    .init(
                        request: 18, taskKind: .processing, identifier: "com.example.b",
                        earliest: 1_700_000_000_000, externalPower: true, network: true),
                    .init(
                        request: 19, taskKind: .continuedProcessing, identifier: "com.example.c",
                        earliest: nil,
                        externalPower: false, network: false, title: "Export", subtitle: "all"),
                ])),
        GoldenCase(
            "reply-session", ReplyMessage(call: 4, error: 0, content: Array(#"{"transfer":"T17"}"#.utf8))),
        GoldenCase("sample", SampleMessage(thread: 4711)),
        GoldenCase("sample-all", SampleMessage(thread: SampleMessage.allThreads)),
        GoldenCase(
            "conditions-battery",
            ConditionsMessage(
                HandlerConditions(
                    isLowPowerMode: true, thermal: .serious, power: .battery, batteryPercent: 15,
                    refresh: .denied,
                    shouldDefer: true, hasGPU: true))),
        GoldenCase(
            "conditions-mains",
            ConditionsMessage(
                HandlerConditions(
                    isLowPowerMode: false, thermal: .nominal, power: .external, batteryPercent: nil,
                    refresh: .available, shouldDefer: false))),
        GoldenCase(
            "conditions-network",
            ConditionsMessage(
                HandlerConditions(
                    isLowPowerMode: false, thermal: .nominal, power: .external, batteryPercent: nil,
                    refresh: .available, shouldDefer: false, network: .constrained))),
        GoldenCase(
            "conditions-interfaces",
            ConditionsMessage(
                HandlerConditions(
                    isLowPowerMode: false, thermal: .nominal, power: .external, batteryPercent: nil,
                    refresh: .available, shouldDefer: false, network: .metered,
                    interfaces: [.cellular, .other]))),
    ]

    static let taskToHost: [GoldenCase] = [
        GoldenCase("ready-v1", ReadyMessage(protocolVersion: 1, abiVersion: 1, cloneToReady: 163_000)),
        GoldenCase("ready-call", ReadyMessage(protocolVersion: 1, abiVersion: nil, cloneToReady: 90_000)),
        GoldenCase("progress-3-of-10", TaskProgressMessage(completed: 3, total: 10)),
        GoldenCase("progress-message", TaskProgressMessage(completed: 7, total: 0, message: "hashing")),
        GoldenCase(
            "log-notice",
            LogMessage(level: 3, message: "12 files", subsystem: "com.example.photos", category: "export")),
        GoldenCase("checkpoint", CheckpointMessage(bytes: [0xDE, 0xAD, 0xBE, 0xEF])),
        GoldenCase("checkpoint-forget", CheckpointMessage(bytes: [])),
        GoldenCase("submit-minimal", SubmitMessage(call: 1, identifier: "com.example.photos.refresh")),
        GoldenCase("submit-full", fullSubmit),
        GoldenCase("submit-kind", submitOfKind),
        GoldenCase("cancel-one", TaskCancelMessage(call: 3, identifier: "com.example.photos.cleanup")),
        GoldenCase("cancel-all", TaskCancelMessage(call: 4, identifier: nil)),
        GoldenCase("pending", PendingMessage(call: 5)),
        GoldenCase(
            "session-call", SessionCallMessage(call: 6, question: Array(#"{"ask":"next"}"#.utf8))),
        GoldenCase("begin-assertion", BeginAssertionMessage(assertion: 1, name: "flush")),
        GoldenCase(
            "begin-assertion-stack",
            BeginAssertionMessage(
                assertion: 1, name: "flush", addresses: [0x5500_0000_1234, 0x7F12_3456_789A])),
        GoldenCase("end-assertion", EndAssertionMessage(assertion: 1)),
        GoldenCase(
            "crash",
            CrashMessage(
                signal: 11, thread: 4711, address: 16, addresses: [0x5500_0000_1234, 0x7F12_3456_789A])),
        GoldenCase(
            "crash-activity",
            CrashMessage(
                signal: 6, thread: 4711, address: nil, addresses: [0x5500_0000_1234],
                activity: "step 2: free(NULL)")),
        GoldenCase("stack", StackMessage(thread: 4711, addresses: [0x5500_0000_1234, 0x7F12_3456_789A])),
        GoldenCase(
            "advice",
            AdviceMessage(code: "lateRegistration", message: "Register before didFinishLaunching returns")),
        GoldenCase(
            "fault", FaultMessage(code: "0x8badf00d", message: "the assertion “flush” was open for 31 s")),
        GoldenCase("title", TitleMessage(title: "Exporting “Été”", subtitle: "7 of 12")),
        GoldenCase("load-failed", LoadFailedMessage(finding: "bgtask_plugin_entry is missing")),
        GoldenCase("done-ok", DoneMessage(success: true)),
        GoldenCase("done-exit", DoneMessage(success: false, message: "status 3", exitStatus: 3)),
        GoldenCase("done-deaf", DoneMessage(success: true, isDeaf: true)),
        GoldenCase(
            "done-unstarted", DoneMessage(success: false, message: "no expiration handler", isUnstarted: true)
        ),
    ]

    static let hostToLauncher: [GoldenCase] = [
        GoldenCase("template-full", fullTemplate),
        GoldenCase(
            "template-call", TemplateMessage(template: 4, library: nil, directory: "/d", isolation: .noFork)),
        GoldenCase(
            "spawn-clone",
            SpawnMessage(
                launch: 42, template: 3, cgroup: "/sys/fs/cgroup/bgtask/g1", subprocesses: false,
                fresh: false,
                memory: 268_435_456)),
        GoldenCase(
            "spawn-fresh",
            SpawnMessage(launch: 43, template: 3, cgroup: nil, subprocesses: true, fresh: true, memory: nil)),
        GoldenCase(
            "spawn-start",
            SpawnMessage(
                launch: 42, template: 3, cgroup: nil, subprocesses: false, fresh: false, memory: nil,
                start: [4, 0, 0, 0, 6, 0, 0, 0])),
        GoldenCase("kill", KillMessage(launch: 42)),
        GoldenCase("retire", RetireMessage(template: 3)),
        GoldenCase("kill-template", KillTemplateMessage(template: 3)),
        GoldenCase("prepare", PrepareMessage(template: 3, cgroup: "/groups1", subprocesses: true)),
    ]

    static let launcherToHost: [GoldenCase] = [
        GoldenCase("hello-v1", HelloMessage(protocolVersion: 1, pid: 4711)),
        GoldenCase("spawned", SpawnedMessage(launch: 42, pid: 4712)),
        GoldenCase("spawned-given", SpawnedMessage(launch: 42, pid: 4712, given: 8)),
        GoldenCase("spawned-counter", SpawnedMessage(launch: 42, pid: 4712, hasCounter: true)),
        GoldenCase("template-started", TemplateStartedMessage(template: 3, pid: 4713)),
        GoldenCase(
            "exited-0",
            ExitedMessage(
                launch: 42, waitStatus: 0, userMicroseconds: 1500, systemMicroseconds: 700,
                maximumResident: 2_097_152, leftovers: 0)),
        GoldenCase(
            "exited-signal",
            ExitedMessage(
                launch: 43, waitStatus: 11, userMicroseconds: 1, systemMicroseconds: 2, maximumResident: 4096,
                leftovers: 2)),
        GoldenCase("template-ready", TemplateReadyMessage(template: 3, isCloneable: true)),
        GoldenCase(
            "template-ready-fresh",
            TemplateReadyMessage(
                template: 3, isCloneable: false, finding: "its constructors started 1 thread")),
        GoldenCase(
            "template-failed",
            TemplateFailedMessage(template: 3, finding: "libfoo.so: cannot open shared object file")),
        GoldenCase(
            "template-crashed",
            TemplateFailedMessage(template: 3, finding: "died while loading", waitStatus: 139)),
        GoldenCase(
            "spawn-failed",
            SpawnFailedMessage(
                launch: 42, finding: "clone3: Resource temporarily unavailable (11)", isShortage: true)),
        GoldenCase("prepared", PreparedMessage(template: 3)),
        GoldenCase("prepared-refused", PreparedMessage(template: 3, finding: "no")),
        GoldenCase(
            "observed",
            ObservedMessage(
                launch: 42, call: "openat", subject: "/etc/é", use: .read, isRefused: true, count: 3)),
        GoldenCase("observed-further", ObservedMessage(launch: 42, call: nil, count: 7)),
        GoldenCase("unkillable", UnkillableMessage(launch: 42)),
    ]

    private static var fullLaunch: TaskLaunchMessage {
        var message = TaskLaunchMessage(
            launch: 42, request: 17, identifier: "com.example.photos.export.album",
            bundle: "com.example.photos",
            taskKind: .continuedProcessing, attempt: 2, token: 1042,
            dataDirectory: "/var/lib/bgtask/com.example.photos", temporaryDirectory: "/tmp/bgtask-42")
        message.lastSuccess = 1_700_000_000_123
        message.leaseEnd = 123_456_789_012_345
        message.title = "Exporting “Été”"
        message.subtitle = "12 photos"
        message.debug = true
        message.assertionAllowance = 25_000
        message.permittedIdentifiers = ["com.example.photos.refresh", "com.example.photos.export.*"]
        message.permittedKinds = [.appRefresh, .continuedProcessing]
        message.modes = ["fetch", "processing"]
        return message
    }

    private static var fullSubmit: SubmitMessage {
        var message = SubmitMessage(call: 2, identifier: "com.example.photos.cleanup")
        message.earliest = 1_700_000_000_000
        message.externalPower = true
        message.network = true
        message.payload = Array("{}".utf8)
        message.title = "Cleaning"
        message.subtitle = "all"
        message.failsUnlessImmediate = true
        message.requiresGPU = true
        message.deadline = 1_700_000_360_000
        return message
    }

    private static var submitOfKind: SubmitMessage {
        var message = SubmitMessage(call: 6, identifier: "com.example.photos.refresh")
        message.taskKind = TaskKind.appRefresh.wireValue
        return message
    }

    private static var fullTemplate: TemplateMessage {
        var message = TemplateMessage(
            template: 3, library: "/var/lib/bgtask/libraries/ab12/libPhotos.so",
            directory: "/var/lib/bgtask/com.example.photos", isolation: .cgroup)
        message.environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]
        message.limits = [.init(resource: 4, soft: 0, hard: 0), .init(resource: 7, soft: 256, hard: 1024)]
        message.cgroup = "/sys/fs/cgroup/bgtask/t3"
        message.niceness = 10
        message.isBatch = true
        message.isIdleIO = true
        message.executable = "/var/lib/bgtask/apps/3/photos.app/bgtask-runner"
        return message
    }
}
