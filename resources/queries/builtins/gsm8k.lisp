; The shape of the reference's gsm8k: questions from a JSON list, numbered, in portions of two; each portion
; is answered, its answers are extracted, and all of them are combined. The bundled model reasons about its
; small world instead of arithmetic; it has never seen a request to extract, and what it makes of one means
; nothing.
(combine "spnl/spanlet"
  (plus
    (chunk 2 (prefix "Question " (take 4 (file "gsm8k/questions.json")))
      (lambda (parts)
        (extract "spnl/spanlet" (length parts)
          (g "spnl/spanlet"
            (seq
              (system "You are a helpful assistant. Answer from the documents.")
              (plus parts))
            0.0 60))))))
