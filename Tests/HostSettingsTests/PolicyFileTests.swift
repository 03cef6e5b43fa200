import Foundation
import HostSettings
import Scheduling
import TaskModel
import Testing

/// The file of `bgtask replay --policy FILE`.
@Suite struct PolicyFileTests {
    @Test func `numbers of the file stand over those of the base, and the rest stays`() throws {
        let folder = try Folder()
        let path = try folder.write(
            "policy.yaml",
            """
            scheduling:
              refreshSpacing: 5m
              scoreThreshold: 0.5
              weights: {usage: 0}
              scores: {userActive: 0.9}
            refresh: denied
            bundles:
              com.example.feed: {refresh: restricted}
              com.example.photos: {weight: 2.5}
            paths: {state: /elsewhere}
            """)
        var base = SchedulerSettings()
        base.discretionarySlots = 7
        let settings = try PolicyFile.schedulerSettings(fromFile: path, over: base)
        var expected = base
        expected.refreshSpacing = .seconds(300)
        expected.scoreThreshold = 0.5
        expected.weights.usage = 0
        expected.scores.userActive = 0.9
        expected.refresh = .denied
        expected.bundleRefresh[try BundleIdentifier("com.example.feed")] = .restricted
        expected.bundleWeights[try BundleIdentifier("com.example.photos")] = 2.5
        #expect(settings == expected)
    }

    @Test func `a file of comments, and one with an empty section, change nothing`() throws {
        let folder = try Folder()
        for text in ["# nothing yet\n", "", "scheduling:\n  # refreshSpacing: 5m\nbundles:\n"] {
            let path = try folder.write("policy.yaml", text)
            #expect(try PolicyFile.schedulerSettings(fromFile: path) == SchedulerSettings())
        }
    }

    @Test(arguments: [
        (
            "scheduling: {refreshSpacin: 5m}",
            "1:14: error: unknown key 'refreshSpacin' in scheduling. Did you mean 'refreshSpacing'?"
        ),
        (
            "schedulin: {}",
            "1:1: error: unknown key 'schedulin' in the configuration. Did you mean 'scheduling'?"
        ),
        (
            "scheduling:\n  refreshSpacing: 5\n",
            "2:19: error: scheduling.refreshSpacing: not a valid duration: '5'. Write numbers with units, the largest unit first: 500ms, 30s, 15m, 1h30m, 2d"
        ),
        (
            "scheduling:\n  refreshSpacing: 2d\n",
            "2:19: error: scheduling.refreshSpacing is 2d, outside 0s to 1d"
        ),
        (
            "scheduling:\n  discretionarySlots: two\n",
            "2:23: error: scheduling.discretionarySlots must be a whole number, found 'two'. Write digits without quotes"
        ),
        (
            "scheduling:\n  scoreThreshold: 1.5\n",
            "2:19: error: scheduling.scoreThreshold is 1.5, outside 0.0 to 1.0"
        ),
        (
            "scheduling:\n  scores: {userActive: 1.1}\n",
            "2:24: error: scheduling.scores.userActive is 1.1, outside 0.0 to 1.0"
        ),
        (
            "scheduling:\n  scores: {useractive: 0.5}\n",
            "2:12: error: unknown key 'useractive' in scheduling.scores. Did you mean 'userActive'?"
        ),
        (
            "scheduling:\n  scoreThreshold: 0x1\n",
            "2:19: error: scheduling.scoreThreshold must be a number, found 0x1. Write digits and a point, without quotes or an exponent, such as 0.5"
        ),
        (
            "scheduling:\n  ignoresDeviceActivity: yes\n",
            "2:26: error: scheduling.ignoresDeviceActivity must be true or false, found 'yes'"
        ),
        (
            "scheduling: 5",
            "1:13: error: scheduling must be a mapping, found 5. Write keys with values: {key: value}"
        ),
        ("refresh: deniedd", "1:10: error: refresh 'deniedd' is unknown. Did you mean 'denied'?"),
        ("bundles: {'bad id': {refresh: denied}}", "1:11: error: bundle 'bad id': "),
        (
            "bundles: {com.example.feed: {refrsh: denied}}",
            "1:30: error: unknown key 'refrsh' in bundles.com.example.feed. Did you mean 'refresh'?"
        ),
        (
            "bundles: {com.example.feed: {weight: 0}}",
            "1:38: error: bundles.com.example.feed.weight is 0"
        ),
        (
            "paths: {state: state}",
            "1:16: error: paths.state must be an absolute path, found 'state'. Begin it with '/' or '~/'"
        ),
        ("recording: {size: 64MB}", "1:19: error: recording.size: not a valid size: '64MB'. Use 64MiB"),
        (
            "logLevel: &a info",
            "1:11: error: anchors are not allowed: '&a'. Configuration files can't use anchors or aliases. Write the value out"
        ),
        (
            "refresh: denied\nrefresh: denied\n",
            "2:1: error: the key 'refresh' appears twice, first on line 1. Keep one"
        ),
    ])
    func `what is wrong is an error with its place and its remedy`(text: String, expected: String) throws {
        let folder = try Folder()
        let path = try folder.write("policy.yaml", text)
        let error = try #require(throws: SettingsError.self) {
            try PolicyFile.schedulerSettings(fromFile: path)
        }
        #expect("\(error)".contains(expected), "\(error)")
        #expect("\(error)".hasPrefix(path))
        #expect(error.problems.count == 1)
    }

    @Test func `a file that is not there is an error that names it`() throws {
        let error = try #require(throws: SettingsError.self) {
            try PolicyFile.schedulerSettings(fromFile: "/nonexistent/policy.yaml")
        }
        #expect("\(error)".hasPrefix("/nonexistent/policy.yaml: error: "))
    }
}
