import Foundation
import LinuxSystem
import Testing

@testable import TaskHost

/// Which users bundles get.
@Suite struct BundleUsersTests {
    private let range: ClosedRange<UInt32> = 70_000...70_009

    @Test func `a bundle keeps the owner of its directory, and the others get different users`() {
        var users = BundleUsers(range: range, owners: ["b": 70_003, "c": 0, "d": 4711])
        let all = ["a", "b", "c", "d", "e"].map { users.user(of: $0) { _ in false } }
        #expect(all[1] == 70_003)
        #expect(Set(all).count == 5 && all.allSatisfy { range.contains($0 ?? 0) })
        #expect(users.user(of: "a") { _ in false } == all[0])
    }

    /// A backup on another machine, or a later version of the host, must find the owner of its files.
    @Test func `a bundle gets the same user again on another machine`() {
        var users = BundleUsers(range: range, owners: [:])
        // The first 64 bits of SHA-256 of "bgtask user a" are 7 modulo 10, and 51281 modulo 65,536.
        #expect(users.user(of: "a") { _ in false } == 70_007)
        var usual = BundleUsers(range: 2_100_000_000...2_100_065_535, owners: [:])
        #expect(usual.user(of: "a") { _ in false } == 2_100_051_281)
    }

    @Test func `of two directories with one owner, only the first keeps it`() {
        var users = BundleUsers(range: range, owners: ["b-copy": 70_003, "b": 70_003])
        #expect(users.user(of: "b") { _ in false } == 70_003)
        #expect(users.user(of: "b-copy") { _ in false } != 70_003)
    }

    @Test func `accounts of the machine are passed over, and a full range has no user`() {
        var users = BundleUsers(range: range, owners: [:])
        let got = (0..<10).map { number in users.user(of: "bundle-\(number)") { $0 % 2 == 0 } }
        #expect(got.compactMap(\.self).sorted() == [70_001, 70_003, 70_005, 70_007, 70_009])
        #expect(got.suffix(5).allSatisfy { $0 == nil })
    }
}
