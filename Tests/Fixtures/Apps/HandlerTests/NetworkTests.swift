import BackgroundTasks
import BackgroundTasksTesting
import Dispatch
import Network
import Testing

/// `NWPathMonitor` in the kit `BackgroundTasksTesting`.
@Suite(.timeLimit(.minutes(1))) struct NetworkTests {
    @Test func `a monitor tells the path at its start and after each change, until it is cancelled`()
        async throws
    {
        try await withTestApp(permitting: [:]) { app in
            app.finishLaunching {}
            let monitor = NWPathMonitor()
            #expect(monitor.currentPath.status == .requiresConnection)
            app.setConditions(network: .unmetered)
            #expect(monitor.currentPath.status == .satisfied && !monitor.currentPath.isExpensive)
            let (paths, told) = AsyncStream.makeStream(of: NWPath.self)
            monitor.pathUpdateHandler = { told.yield($0) }
            let queue = DispatchQueue(label: "paths")
            monitor.start(queue: queue)
            var news = paths.makeAsyncIterator()
            #expect(await news.next()?.debugDescription == "satisfied")
            app.setConditions(network: .constrained)
            #expect(await news.next()?.debugDescription == "satisfied, expensive, constrained")
            // Not a change of the network.
            app.setConditions(lowPowerMode: true)
            app.setConditions(network: NetworkState.none)
            #expect(await news.next()?.status == .unsatisfied)
            monitor.cancel()
            app.setConditions(network: .unmetered)
            queue.sync {}
            told.finish()
            #expect(await news.next() == nil)
        }
    }

    @Test func `a loop over a monitor hears of a metered network`() async throws {
        try await withTestApp(permitting: [:]) { app in
            app.finishLaunching {}
            app.setConditions(network: .unmetered)
            for await path in NWPathMonitor() {
                if path.isExpensive { break }
                app.setConditions(network: .metered)
            }
        }
    }

    @Test func `a loop over a monitor ends when the monitor is cancelled`() async throws {
        try await withTestApp(permitting: [:]) { app in
            app.finishLaunching {}
            app.setConditions(network: .unmetered)
            let monitor = NWPathMonitor()
            var paths = monitor.makeAsyncIterator()
            #expect(await paths.next()?.status == .satisfied)
            monitor.cancel()
            #expect(await paths.next() == nil)
        }
    }

    @Test func `a network of which the host knows no device is of another type`() async throws {
        try await withTestApp(permitting: [:]) { app in
            app.setConditions(network: .unmetered)
            #expect(NWPathMonitor(requiredInterfaceType: .wifi).currentPath.status == .unsatisfied)
            #expect(NWPathMonitor().currentPath.usesInterfaceType(.other))
            #expect(NWPathMonitor().currentPath.availableInterfaces.map(\.type) == [.other])
        }
    }

    @Test func `a path has the types of the devices, and a monitor of one type sees only that`() async throws
    {
        try await withTestApp(permitting: [:]) { app in
            app.setConditions(network: .unmetered, interfaces: [.wiredEthernet, .wifi])
            let path = NWPathMonitor().currentPath
            #expect(path.availableInterfaces.map(\.type) == [.wifi, .wiredEthernet])
            #expect(path.usesInterfaceType(.wifi) && path.usesInterfaceType(.wiredEthernet))
            #expect(!path.usesInterfaceType(.cellular) && !path.usesInterfaceType(.other))
            #expect(!path.usesInterfaceType(.loopback))
            let wifi = NWPathMonitor(requiredInterfaceType: .wifi).currentPath
            #expect(wifi.status == .satisfied && wifi.availableInterfaces.map(\.type) == [.wifi])
            #expect(NWPathMonitor(requiredInterfaceType: .cellular).currentPath.status == .unsatisfied)
            let both: [NWInterface.InterfaceType] = [.wifi, .wiredEthernet]
            #expect(NWPathMonitor(prohibitedInterfaceTypes: both).currentPath.status == .unsatisfied)
            app.setConditions(network: NetworkState.none)
            #expect(NWPathMonitor().currentPath.availableInterfaces.isEmpty)
            #expect(!NWPathMonitor().currentPath.usesInterfaceType(.wifi))
        }
    }

    @Test func `a change of the device alone is told`() async throws {
        try await withTestApp(permitting: [:]) { app in
            app.finishLaunching {}
            app.setConditions(network: .unmetered, interfaces: [.wifi])
            for await path in NWPathMonitor() {
                if path.usesInterfaceType(.wiredEthernet) { break }
                app.setConditions(interfaces: [.wiredEthernet])
            }
        }
    }

    private typealias NetworkState = TestApp.NetworkState
}
