; The shape of the reference's rag: the passages of a document that fit the question, then the question.
(g "spnl/spanlet"
  (cross
    (system "You are a helpful assistant. Answer from the documents.")
    (with "none" (user "What is the name of the pet of Tarek?")
      (list (fetchn "rag/people.csv"))))
  0.0 60)
