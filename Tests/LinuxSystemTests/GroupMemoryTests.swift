import Foundation
import TaskHostTestSupport
import TaskModel
import Testing

@testable import LinuxSystem

/// The memory of a group's processes, which the host reads every second.
@Suite(.system) struct GroupMemoryTests {
    @Test func `what kept descriptors show is what reading the files shows, as processes come and go`() throws
    {
        guard let group = TestGroup.make() else { return }
        defer { try? group.remove() }
        let memory = try GroupMemory(of: group)
        #expect(memory.residentBytes() == 0)
        var processes: [Process] = []
        func end(_ process: Process) {
            _ = kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        // The two readings happen at different moments, and a process that starts grows between them.
        func isSame() -> Bool {
            (0..<10_000).contains { _ in
                sched_yield()
                return memory.residentBytes() == ProcessUsage.residentBytes(of: group.processes)
            }
        }
        // Ten processes are more than the eight whose files stay open.
        for count in 1...10 {
            let process = try TestGroup.sleeper()
            processes.append(process)
            try SmallFile.write("\(process.processIdentifier)", to: group.path + "/cgroup.procs")
            #expect(group.processes.count == count)
            #expect(isSame())
            if count == 8 {
                for _ in 0..<10 { #expect(memory.residentBytes() > 0) }
                #expect(memory.openCount == 8, "each file is opened once, however often it is looked at")
            }
        }
        #expect(memory.residentBytes() > 0)
        for process in processes.prefix(5) { end(process) }
        #expect(isSame())
        for process in processes.dropFirst(5) { end(process) }
        #expect(memory.residentBytes() == 0)
    }

    @Test func `a group that can't grow is listed again when a process of it has ended`() throws {
        guard let group = TestGroup.make() else { return }
        defer { try? group.remove() }
        let memory = try GroupMemory(of: group, mayGrow: false)
        var processes: [Process] = []
        defer {
            for process in processes where process.isRunning {
                _ = kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
        for _ in 1...2 {
            let process = try TestGroup.sleeper()
            processes.append(process)
            try SmallFile.write("\(process.processIdentifier)", to: group.path + "/cgroup.procs")
            #expect(memory.residentBytes() > 0)
            #expect(memory.openCount == 1, "the second one is not looked for")
        }
        _ = kill(processes[0].processIdentifier, SIGKILL)
        processes[0].waitUntilExit()
        #expect(memory.residentBytes() == 0)
        #expect(memory.residentBytes() > 0)
        #expect(memory.openCount == 2)
    }

    @Test func `shared memory, page tables and swapped pages come from the status of a process`() {
        let status = """
            Name:\tVmPTE: 7
            VmRSS:\t    1900 kB
            RssShmem:\t      12 kB
            VmPTE:\t  131072 kB
            VmSwap:\t    2048 kB
            """
        let memory = ProcessUsage.FurtherMemory(status: status)
        #expect(memory.shared == 12 << 10)
        #expect(memory.unmapped == (131_072 + 2048) << 10)
        #expect(ProcessUsage.FurtherMemory(status: "Name:\tzombie\n") == ProcessUsage.FurtherMemory())
    }

    @Test func `a list of a group ends at its limit`() throws {
        guard let group = TestGroup.make() else { return }
        defer { try? group.remove() }
        let processes = try (0..<5).map { _ in try TestGroup.sleeper() }
        defer {
            for process in processes {
                _ = kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
        for process in processes {
            try SmallFile.write("\(process.processIdentifier)", to: group.path + "/cgroup.procs")
        }
        let all = group.processes
        #expect(Set(all) == Set(processes.map(\.processIdentifier)))
        #expect(group.processes(most: 3) == Array(all.prefix(3)))
        #expect(
            group.threadCount() == 5 && group.threadCount(upTo: 5) == 5 && group.threadCount(upTo: 2) == 3)
    }
}
