// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of all steps, the newest run first.
#pragma once

#include "engine/trace/fidelity_metrics.h"
#include "ui/session/run_list.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class AnswerState : std::uint8_t { Waiting, Computing, Streaming, Finished, Stopped, Failed };

struct Answer {
  RunId run = 0;
  RequestId request = 0;  ///< 0: the run itself failed, or said something without a step
  NodePath node;
  QString name;
  QString policy;
  QString layout;      ///< name of the layout; empty if it is the exact layout
  QString exactness;   ///< what the policy is exact against on this checkpoint, in words
  QString over;        ///< said after `exactness`: over which tokens it holds; empty if the layout is exact
  QString model;       ///< name of the checkpoint that answered; empty: not known
  QString arithmetic;  ///< of the processor, if it is not the usual one; empty: it is, or is not known
  QString document;    ///< title of the document, if the list has runs of several documents
  QString time;        ///< when the run started; empty: not known
  QStringList otherNames;  ///< other models that the query names
  QStringList advice;      ///< the engine's warnings
  QString offer;           ///< what another policy would do here, and what it takes; may be empty
  QString madeFor;         ///< what the checkpoint was made for, if the query is about something else
  /// The policy wants a checkpoint trained for block attention, which this one was not: other policies may do
  /// better.
  bool offersPolicies = false;
  QString fittingAdapter;  ///< name of an adapter that would train it so, if the model is loaded; empty: none
  AnswerState state = AnswerState::Waiting;
  QString text;
  QString problem;                            ///< why it failed or waits
  std::optional<trace::StepOutcome> outcome;  ///< how the step has ended
  std::optional<double> timeToFirstToken;     ///< seconds
  std::int64_t generatedTokens = 0;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  QString server;  ///< that answered, by its name; empty: the embedded engine did
  /// What the server said of its cache; nothing: the embedded engine answered, or the answer has not ended.
  std::optional<trace::CachedState> cached;
  QStringList notes;  ///< what was noted of the server's answer: what was foretold of it
  QString brokenBy;   ///< why the server's answer broke off; empty: it did not
  bool isCachedKnown() const {
    return cached != trace::CachedState::NotReported && cached != trace::CachedState::CannotReport;
  }
  QStringList
      accountWords;  ///< what else there is to say of the prompt's tokens; not known of older sessions
  std::optional<trace::FidelityMetrics> fidelity;  ///< against a full prefill, if it was measured
  /// How close the arithmetic is to f32, if it is another and was measured.
  std::optional<trace::DivergenceMetrics> arithmeticMetrics;
  QString fullText;          ///< answer of a full prefill, if it is another answer
  bool isMeasuring = false;  ///< its fidelity is being measured
  double measuredShare = 0;  ///< how much of that is done, from 0 to 1
  QString measureReason;     ///< why the fidelity cannot be measured now; empty: it can
  QString measureProblem;    ///< why the last measurement failed
  RunId sameAs = 0;          ///< the last run before with the same finished answer of this step; 0: none
  QStringList sameBut;       ///< how that run differs otherwise
  bool operator==(const Answer&) const = default;
};

struct OutputModel {
  std::vector<Answer> answers;  ///< the newest run first, and in a run the last step first
  std::size_t left = 0;         ///< older answers that are not in the list
  std::size_t others = 0;       ///< runs left out because they belong to other documents
  bool operator==(const OutputModel&) const = default;
};

/// The newest answers, at most `most`. `scope` says which runs are in the list.
OutputModel outputModel(const ViewInput& input, std::size_t most = 50, RunScope scope = RunScope::All);

/// "not reported"
QString cachedStateText(trace::CachedState state);
/// "TTFT 3.1 ms · 8 generated · 70 of 83 prompt tokens cached (84 %)"
QString answerFacts(const Answer& answer);
/// "block attention ✓ · full prefill ≈ KL 0.012, 23 of 24 tokens agree, same answer". If nothing was
/// measured, only the policy's exactness.
QString exactnessText(const Answer& answer);
/// How near the answer is to a full prefill, in a few words: what was measured, what the policy promises, or
/// how far a measurement is. Empty if that is not known, or the answer has not finished.
QString fidelityHeadline(const Answer& answer);
/// The measured fidelity, one metric in each line. Empty if nothing was measured.
QString fidelityDetails(const Answer& answer);
/// "= same answer as run 2 (there: policy prefix)". Empty if there is no such run.
QString sameText(const Answer& answer);
/// A sentence if the query names another model than the one that answered; else empty.
QString modelText(const Answer& answer);
/// A sentence if the answer has finished and the model was made for something else than the query is about;
/// else empty.
QString madeForText(const Answer& answer);
QString outputCsv(const OutputModel& model);

}  // namespace spanscope::ui
