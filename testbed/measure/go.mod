module loopbreaker.dev/measure

go 1.24
