import TaskModel

/// Generates one day of each kind of device; hours are local time, and day 0 is a Monday.
extension DeviceDays {
    private func isWeekend(_ day: Int) -> Bool { day % 7 >= 5 }

    mutating func laptop(_ day: Int) {
        let isOffice = !isWeekend(day)
        let morning = time(day, isOffice ? 7 : 9.5, spread: 25)
        // The night: usually closed and on the charger, but one night in five open and awake.
        if day == 0 { battery(from: time(day, 0), until: time(day, 0.5), to: 100, isCharging: true) }
        let isOpen = numbers.chance(0.2)
        if !isOpen { sleep(from: time(day, 0.6), until: morning) }
        change(at: morning) { $0.network = .known(.unmetered) }
        use(from: morning, until: morning + .seconds(1500))
        if isOffice {
            let train = time(day, 8, spread: 10), office = time(day, 8.8, spread: 10)
            change(at: train) { $0.network = .known(.metered) }
            battery(from: train, until: office, to: 86, isCharging: false)
            change(at: office) { $0.network = .known(.unmetered) }
            battery(from: office + .seconds(60), until: office + .seconds(3600), to: 100, isCharging: true)
            use(from: office, until: time(day, 12, spread: 15))
            use(from: time(day, 13, spread: 10), until: time(day, 15, spread: 20))
            if numbers.chance(0.3) {
                let build = time(day, 15.2, spread: 20)
                change(at: build) { $0.thermal = .known(.fair) }
                change(at: build + .seconds(1200)) { $0.thermal = .known(.nominal) }
            }
            use(from: time(day, 15.8), until: time(day, 17, spread: 10))
            let home = time(day, 17.6, spread: 10), arrival = time(day, 18.4, spread: 10)
            change(at: home) { $0.network = .known(.metered) }
            battery(from: home, until: arrival, to: 82, isCharging: false)
            change(at: arrival) { $0.network = .known(.unmetered) }
            sleep(from: arrival + .seconds(60), until: time(day, 20, spread: 20))
        } else {
            battery(from: time(day, 11, spread: 30), until: time(day, 15), to: 45, isCharging: false)
        }
        use(from: time(day, 20.5, spread: 10), until: time(day, 22, spread: 30))
        battery(from: time(day, 22.7, spread: 10), until: time(day, 23.9), to: 100, isCharging: true)
    }

    mutating func kiosk(_ day: Int) {
        if day == 0 { change(at: .zero) { $0.power = .known(.mains) } }
        var next = time(day, 8, spread: 10)
        let close = time(day, 20, spread: 10)
        while next < close {
            let end = next + numbers.duration(.seconds(60)...(.seconds(1200)))
            use(from: next, until: end)
            next = end + numbers.duration(.seconds(320)...(.seconds(2400)))
        }
        if numbers.chance(0.05) {
            let cut = time(day, 22, spread: 60)
            change(at: cut) { $0.network = .known(.none) }
            change(at: cut + numbers.duration(.seconds(300)...(.seconds(3600)))) {
                $0.network = .known(.unmetered)
            }
        }
    }

    mutating func solarGateway(_ day: Int) {
        if day == 0 { change(at: .zero) { $0.network = .known(.metered) } }
        let sun = numbers.chance(0.3) ? 55 : 100
        let (rise, noon, set) = (
            time(day, 7, spread: 20), time(day, 12.5, spread: 20), time(day, 18, spread: 20)
        )
        battery(from: time(day, 0), until: rise - .seconds(60), to: 30, isCharging: false)
        battery(from: rise, until: noon - .seconds(60), to: sun, isCharging: true)
        if sun == 100 { change(at: noon) { $0.thermal = .known(.fair) } }
        if sun == 100, numbers.chance(0.25) {
            change(at: noon + .seconds(3600)) { $0.thermal = .known(.serious) }
        }
        change(at: noon + .seconds(9000)) { $0.thermal = .known(.nominal) }
        battery(from: set, until: time(day, 23.9), to: sun - 35, isCharging: false)
        if numbers.chance(0.15) {
            let cut = time(day, 20, spread: 90)
            change(at: cut) { $0.network = .known(.none) }
            change(at: cut + numbers.duration(.seconds(600)...(.seconds(7200)))) {
                $0.network = .known(.metered)
            }
        }
    }

    mutating func phone(_ day: Int) {
        if day == 0 { battery(from: time(day, 0), until: time(day, 1.5), to: 100, isCharging: true) }
        let out = time(day, isWeekend(day) ? 11 : 8, spread: 30), back = time(day, 18.5, spread: 60)
        let plugged = time(day, 23, spread: 30)
        var next = time(day, 7, spread: 20)
        var isOut = false, isBack = false
        battery(from: next, until: plugged, to: Int.random(in: 8...45, using: &numbers), isCharging: false)
        while next < plugged - .seconds(1200) {
            if !isOut, next > out {
                change(at: out) { $0.network = .known(.metered) }
                isOut = true
            }
            if isOut, !isBack, next > back {
                change(at: back) { $0.network = .known(.unmetered) }
                isBack = true
            }
            let end = next + numbers.duration(.seconds(30)...(.seconds(900)))
            use(from: next, until: end)
            next = end + numbers.duration(.seconds(310)...(.seconds(4800)))
        }
        if !isBack { change(at: plugged) { $0.network = .known(.unmetered) } }
        battery(from: plugged, until: plugged + .seconds(5400), to: 100, isCharging: true)
    }
}
