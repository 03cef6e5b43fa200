import Foundation
import GRDB
@testable import RequestStore
import TaskModel
import Testing

/// Stores of older hosts keep their meaning, and unreadable contents give an error message.
@Suite struct OldStoreTests {
    /// Runs a body on a directory with the store of an older host; the first line of the dump describes that
    /// host.
    private func withOldStore(_ body: (String) async throws -> Void) async throws {
        let dump = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fixtures/Stores/before-replaced.sql")
        let sql = try String(contentsOf: dump, encoding: .utf8)
        try await withTemporaryDirectory { directory in
            let queue = try DatabaseQueue(path: directory + "/store.sqlite")
            try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
            try await body(directory)
        }
    }

    @Test func `a store of an older host opens with its requests, launches and facts`() async throws {
        try await withOldStore { directory in
            let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
            #expect(store.opening.wasClean)
            let pending = try await store.pendingRequests()
            #expect(pending.map(\.id.rawValue) == [4])
            #expect(pending.map(\.waitingSince) == pending.map(\.submittedAt))
            #expect(pending.map(\.attempts) == [AttemptHistory()])
            #expect(try await store.pendingRequests().first?.submission.network == nil)
            let launch = try #require(await store.launch(LaunchID(rawValue: 2)))
            #expect(launch.end?.reason == .exitedWithoutCompleting)
            let next = try await store.begin(RequestID(rawValue: 4))
            #expect(next.id.rawValue == 3)
            #expect(next.token == 1_795_319_308_420)

            let facts = try await store.facts()
            let bundle = try BundleIdentifier("org.example.old")
            let hash = "32d9ee45c8200db5e128c6e85730e1e04e148fba90a31ac25acf2326c2269614"
            #expect(facts.unreadable == [])
            #expect(facts.boot == "8c4b0a52-6d0e-4b3a-9f7e-2f1d5c6b7a80")
            #expect(facts.numberedDirectories == [bundle: "1"])
            #expect(facts.launchedApps == [bundle: hash])
            let advice = try #require(facts.advice[bundle])
            #expect(facts.advice.count == 1)
            #expect(advice.libraryHash == hash)
            #expect(advice.advice.map(\.code) == ["neverCompleted"])
            #expect(advice.advice.first?.launch == launch.id)
            #expect(advice.advice.first?.at.milliseconds == 1_795_319_312_453)
            let state = try #require(facts.bundleStates[bundle])
            #expect(facts.bundleStates.count == 1)
            #expect(state.refresh == .denied)
            #expect(state.refreshChangedAt?.milliseconds == 1_795_319_312_718)
            #expect(state.lastUsed?.milliseconds == 1_795_319_312_676)
            #expect(state.usage.hours.count == 168 && state.usage.hours.reduce(0, +) == 1)
            #expect(state.budget.launchLimit == 12)
            #expect(state.budget.cpuLimit == .seconds(600))
            #expect(state.budget.cpu == .microseconds(533))

            await store.remember(.directoryRenamed(bundle))
            #expect(try await store.facts().numberedDirectories == [:])
            try await store.close(at: now)
        }
    }

    @Test func `requests that an older host let be replaced have the reason now, others keep theirs`()
        async throws
    {
        try await withOldStore { directory in
            let store = try SQLiteRequestStore.open(directory: directory, socket: "s", at: now)
            let replaced = try await store.request(RequestID(rawValue: 3))
            #expect(replaced?.reason == .replaced)
            #expect(replaced?.replacedBy?.rawValue == 4)
            #expect(try await store.request(RequestID(rawValue: 5))?.reason == .cancelledByUser)
            #expect(try await store.request(RequestID(rawValue: 1))?.reason == .exitedWithoutCompleting)
            try await store.close(at: now)
        }
    }

    /// Stored facts must keep their bytes, even if a property of the model gets a new name.
    @Test func `the form of stored facts is fixed`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        let bundle = try BundleIdentifier("com.example")
        var state = FactConformanceTests.fullState()
        state.usage.hours = [1, 2]
        state.usage.quarters = [3]
        let piece = PluginAdvice(code: "c", message: "a/b", launch: LaunchID(rawValue: 42), at: now)
        await store.remember(.bundleState(bundle, state))
        await store.remember(.advice(bundle, VersionAdvice(libraryHash: "abc", advice: [piece])))
        await store.remember(.launchedApp(bundle, libraryHash: "abc"))
        await store.remember(.boot("b"))
        // Each date is a number of attoseconds: its high and its low 64 bits.
        let first = #"{"sinceEpoch":[97578195,9660474999051386880]}"#
        let second = #"{"sinceEpoch":[97578198,14320242777922732032]}"#
        let expected = """
            {"budget":{"burst":0.5,"cpu":[0,1234567891000000000],"cpuLimit":[32,9704189641294348288],"day":20001,\
            "launchLimit":12,"launches":4},"conduct":{"days":[{"day":20000,"points":-12}]},\
            "crashPause":{"crashes":5,"library":"abc","since":\(first)},\
            "crashes":[\(first),\(second)],"dismissedAt":\(second),\
            "lastPush":\(second),"lastRefresh":\(first),"lastUsed":{"sinceEpoch":[97578195,9783931788051386880]},\
            "pause":{"since":\(first),"until":\(second)},"recent":{"minutes":{"appRefresh":[30000000,2,30000001,3],\
            "push":[30000000,1]},"newest":[{"beganAt":\(first),"identifier":"com.example.photos.refresh"}]},\
            "refresh":"denied","refreshChangedAt":\(first),"service":{"at":\(second),"seconds":12.5},\
            "shortService":{"at":\(second),"seconds":7.25},\
            "usage":{"firstDay":20000,"hours":[1,2],"lastHour":480000,"lastQuarter":1920000,"quarters":[3],\
            "quartersSince":20001},"wakeUpsSaved":7}
            """
        let advice = """
            {"advice":[{"at":\(first),"code":"c","launch":"L42","message":"a/b"}],"libraryHash":"abc"}
            """
        #expect(
            try await store.settings() == [
                "bundle/com.example": expected, "advice/com.example": advice,
                "app launch/com.example": "abc", "host.boot": "b",
            ])
    }

    @Test func `a row that can't be read is a sentence, and the others are read`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        let bundle = try BundleIdentifier("com.example.good")
        await store.remember(.bundleState(bundle, FactConformanceTests.fullState()))
        let rows = [
            "bundle/com.example.cut": #"{"refresh": "ava"#,
            "bundle/com.example.word": #"{"refresh": "sometimes"}"#,
            "bundle/com.example.type": #"{"budget": {"cpu": "much", "launches": 1}}"#,
            "bundle/not a bundle": "{}",
            "advice/com.example.lacks": #"{"advice": []}"#,
            "advice/com.example.launch":
                #"{"advice":[{"at":{"sinceEpoch":[0,0]},"code":"c","launch":"X","message":""}],"libraryHash":""}"#,
            "directory of com.example.path": "../../etc",
            "of the future": "1",
        ]
        for (key, value) in rows { try await store.setSetting(key, value) }
        try await store.write {
            try $0.execute(
                sql: "INSERT INTO settings (key, value) VALUES ('app launch/com.example.n', 5), (7, 'x')")
        }
        let facts = try await store.facts()
        #expect(facts.bundleStates == [bundle: FactConformanceTests.fullState()])
        #expect(facts.advice.isEmpty && facts.launchedApps.isEmpty && facts.numberedDirectories.isEmpty)
        #expect(facts.unreadable.count == 10, "\(facts.unreadable)")
        for key in rows.keys {
            #expect(facts.unreadable.count { $0.contains(key.debugDescription) } == 1, "\(key)")
        }
        #expect(
            facts.unreadable.contains(
                "The store's row \"bundle/com.example.word\" can't be read: 'refresh' has an unknown value. "
                    + "The host ignores this row"))
    }

    @Test func `an older row lacks what came later`() async throws {
        let store = try SQLiteRequestStore.inMemory()
        try await store.setSetting("bundle/com.example", #"{"refresh":"available"}"#)
        let facts = try await store.facts()
        let bundle = try BundleIdentifier("com.example")
        #expect(facts.bundleStates == [bundle: BundleState()])
        #expect(facts.unreadable.isEmpty)
    }
}
