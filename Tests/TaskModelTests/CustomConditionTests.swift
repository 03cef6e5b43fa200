import TaskModel
import Testing

@Suite struct CustomConditionTests {
    @Test(arguments: [
        (ConditionPredicate.equals("closed"), "closed", true as Bool?), (.equals("closed"), "open", false),
        (.equals("0"), "0.0", true), (.equals("closed"), "", false), (.notEquals("0"), "1", true),
        (.notEquals("0"), "00", false), (.above(20), "20", false), (.above(20), "20.5", true),
        (.above(20), "warm", nil), (.above(20), "nan", nil), (.below(-1), "-2", true), (.below(-1), "", nil),
        (.matches("^dock(ed)?$"), "dock", true), (.matches("^dock(ed)?$"), "undocked", false),
        (.matches("ocke"), "docked", true), (.matches("("), "(", nil),
    ])
    func `a predicate holds, does not, or can't be asked`(
        predicate: ConditionPredicate, value: String, expected: Bool?
    ) {
        #expect(predicate.holds(value) == expected)
    }

    @Test(arguments: ["docked", "lid-closed", "a", "x1", String(repeating: "a", count: 64)])
    func `names are lower-case words with hyphens`(name: String) {
        #expect(CustomCondition.isName(name))
    }

    @Test(arguments: [
        "", "Docked", "1st", "-a", "lid_closed", "a b", "power", "gpu", "ö",
        String(repeating: "a", count: 65),
    ])
    func `other texts are no names, and neither are the machine's conditions`(name: String) {
        #expect(!CustomCondition.isName(name))
    }
}
