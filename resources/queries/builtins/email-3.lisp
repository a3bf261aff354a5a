; The shape of the reference's email3: who the e-mail is for is asked when the query is run, and what the
; writer is told comes from a file. An answer to try: "My name is Otto. I am a baker with 5 years of
; experience and need an introductory email to apply for a position at Globex".
(g "spnl/spanlet"
  (seq
    (print "Writing 3 candidates")
    (system "You compute an evaluation score from 0 to 100 that ranks given candidate introductory emails. Better emails are ones that mention specifics, such as names of people and companies.")
    (repeat 3 "spnl/spanlet"
      (seq
        (system (file "email-3/system.txt"))
        (ask "Tell me about yourself:"))
      0.9 80)
    (print "Judging them")
    (user "Show the best email and its score."))
  0.0 80)
