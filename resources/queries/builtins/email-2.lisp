; The shape of the reference's email2: candidates of one prompt, and a judge that reads them in order (seq).
; The candidates share their prompt, and the judge reuses what they computed.
(g "spnl/spanlet"
  (seq
    (system "You compute an evaluation score from 0 to 100 that ranks given candidate introductory emails. Better emails are ones that mention specifics, such as names of people and companies.")
    (print "Writing 3 candidates")
    (repeat 3 "spnl/spanlet"
      (seq
        (system "You write an introductory email for a job application.")
        (user "My name is Otto. I am a baker with 5 years of experience and need an introductory email to apply for a position at Globex"))
      0.9 80)
    (print "Judging them")
    (user "Show the best email and its score."))
  0.0 80)
