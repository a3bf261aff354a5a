; The shape of the reference's sweagent: several candidates, each from the same task and the same worked
; examples beside an input of its own, and a judge that reads them all. Task, examples and inputs are files.
; What the candidates share is computed once, wherever it stands; the judge computes only its own words.
; The task follows the examples here, since the bundled model reads documents first.
(g "spnl/spanlet"
  (cross
    (system "Answer questions using the given documents.")
    (print "Writing 3 candidates")
    (plus
      (foreach i 1 3
        (g "spnl/spanlet"
          (cross
            (system (file "sweagent/system.txt"))
            (plus
              (user (file "sweagent/example-1.txt"))
              (user (file "sweagent/example-2.txt"))
              (user (file "sweagent/example-3.txt"))
              (user (file "sweagent/example-4.txt"))
              (user (file (format "sweagent/input-{i}.txt"))))
            (user (file "sweagent/task.txt")))
          0.0 40)))
    (print "Judging them")
    (user "What is the special magic number for falcon mentioned in the documents?"))
  0.0 40)
