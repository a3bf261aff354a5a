; The shape of the reference's email: one generate over a chat.
(g "spnl/spanlet"
  (cross
    (system "You write an introductory email for a job application.")
    (user "My name is Otto. I am a baker with 5 years of experience and need an introductory email to apply for a position at Globex"))
  0.0 80)
