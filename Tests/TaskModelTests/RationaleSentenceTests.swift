import TaskModel
import Testing

/// The findings of policies as sentences for people.
@Suite struct RationaleSentenceTests {
    @Test(arguments: [
        (
            "externalPower", "not connected (battery at 15 %)", "connected",
            "External power is not connected (battery at 15 %); it must be connected"
        ),
        (
            "launchesOfIdentifier", "still running, for request R7", "over",
            "The last launch of this task is still running, for request R7; it must be over"
        ),
        (
            "earliestBeginDate", "60 min too early", "2027-01-15T09:00:00Z or later",
            "It is 60 min too early; the request may begin at 2027-01-15T09:00:00Z or later"
        ),
        (
            "manifest", "no manifest permits it", "a manifest of org.example that permits org.example.a",
            "No manifest permits it; the task needs a manifest of org.example that permits org.example.a"
        ),
        ("fuelLevel", "low", "high", "Fuel level is low; it must be high"),
    ])
    func `a rationale is a sentence without names of code`(
        quantity: String, observed: String, required: String, sentence: String
    ) {
        let rationale = Rationale(quantity: quantity, required: required, observed: observed)
        #expect(rationale.sentence == sentence)
        #expect(sentence.hasPrefix(rationale.statement))
    }
}
