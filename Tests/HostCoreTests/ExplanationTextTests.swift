import ControlWire
import Scheduling
import TaskModel
import Testing

@testable import HostCore

/// The stored text of each launch's decision: it keeps every value, and takes about a sixth of the space of
/// the JSON that older hosts stored.
@Suite struct ExplanationTextTests {
    private static let at = WallTime(milliseconds: 1_795_331_378_998)

    /// The decision of an ordinary processing launch, on an idle machine with external power.
    private static let ordinary = #"""
        {"at":"2026-11-22T07:09:38.998Z","mayStart":true,"question":"start","score":0.9078947368421053,
        "scoreSuffices":null,"threshold":0.5999999559377867,"verdicts":[
        {"decision":"proceed","policy":"Permission","rationale":[],"score":1,"since":null,"weight":0},
        {"decision":"proceed","policy":"ExternalPower","rationale":[{"earliestChange":null,"observed":"connected",
        "quantity":"externalPower","remedy":null,"required":"connected, by preference"}],"score":1,
        "since":"2026-11-22T07:09:38.880Z","weight":4},
        {"decision":"proceed","policy":"Conduct","rationale":[{"earliestChange":null,"observed":"nothing of note",
        "quantity":"conduct","remedy":null,"required":"no kills, crashes or leaks for 7 days"}],"score":0.75,
        "since":null,"weight":3}]}
        """#.replacing("\n", with: "")

    @Test func `the text of an older host is read as before`() throws {
        let old = try #require(ExplanationText.decode(Self.ordinary))
        #expect(old.verdicts.map(\.policy) == ["Permission", "ExternalPower", "Conduct"])
        let new = try #require(ExplanationText.encode(old))
        #expect(ExplanationText.decode(new) == old)
        #expect(
            new == "[2,0,1795331378998,0.9078947368421053,0.5999999559377867,null,0,"
                + "[2,0,1,4,-118,[21,39,38]],[14,0,0.75,3,null,[29,49,48]]]")
        #expect(
            try ControlJSON.line(ExplanationMessage(old))
                == ControlJSON.line(
                    ControlJSON.decode(ExplanationMessage.self, from: Self.ordinary)))
    }

    @Test func `everything that an explanation can say comes back`() throws {
        var explanation = Explanation(question: .stop, at: Self.at, verdicts: [])
        #expect(ExplanationText.decode(ExplanationText.encode(explanation)) == explanation)
        for decision in Decision.allCases {
            let texts = ["", "quo\"ted \\ line\nbreak \u{1} tab\t", "Zürich 日本 🙂", "thermal", "42"]
            for text in texts {
                for remedy in [nil, "bgtask cancel \(text)", text] {
                    for change in [nil, Self.at + .seconds(3)] {
                        explanation.verdicts.append(
                            Verdict(
                                policy: text, decision: decision, score: 0.1, weight: 2.5,
                                rationale: [
                                    Rationale(
                                        quantity: text, required: "r \(text)", observed: text,
                                        earliestChange: change, remedy: remedy),
                                    Rationale(quantity: "b", required: text, observed: "c"),
                                ], since: change))
                    }
                }
            }
            explanation.verdicts.append(
                Verdict(policy: "New", decision: decision, score: 1, weight: 0, rationale: []))
        }
        explanation.score = 1e-9
        explanation.threshold = 0
        explanation.scoreSuffices = Self.at + .seconds(7)
        let text = try #require(ExplanationText.encode(explanation))
        #expect(ExplanationText.decode(text) == explanation)
        #expect(ExplanationText.decode("[3,0,1]") == nil)
        #expect(ExplanationText.decode("[2,0,1,null,null,null,9999]") == nil)
        #expect(ExplanationText.decode("{}") == nil)
    }

    @Test func `numbers of names never change`() {
        #expect(ExplanationText.names.count == Set(ExplanationText.names).count)
        #expect(ExplanationText.names[0] == "Permission" && ExplanationText.names[20] == "Score")
        #expect(
            ExplanationText.names[38] == "connected" && ExplanationText.names[55].hasPrefix("less than 30"))
        #expect(ExplanationText.names.count >= 57, "names are only added")
    }
}
