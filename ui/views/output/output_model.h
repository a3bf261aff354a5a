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
  RequestId request = 0;  ///< 0: the run itself failed, or has notes without a step
  NodePath node;
  QString name;
  QString policy;
  QString layout;      ///< name of the layout; empty if it is the exact layout
  QString exactness;   ///< how the policy matches each reference on this checkpoint, in words
  QString over;        ///< follows `exactness`: the tokens for which it is true; empty if the layout is exact
  QString model;       ///< name of the checkpoint that answered; empty: not known
  QString arithmetic;  ///< arithmetic of the processor; empty: the default, or not known
  QString document;    ///< title of the document, if the list has runs of several documents
  QString time;        ///< when the run started; empty: not known
  QStringList otherNames;  ///< other models that the query names
  QStringList advice;      ///< the engine's warnings
  QString offer;           ///< the effect of another policy here, and the needs of that policy; may be empty
  QString madeFor;         ///< the checkpoint's purpose, if the query is about something else.
  /// The policy needs a checkpoint that was trained for block attention, and this checkpoint was not. Other
  /// policies may give better answers.
  bool offersPolicies = false;
  QString fittingAdapter;  ///< an adapter with this training, if the model is loaded; empty: none
  AnswerState state = AnswerState::Waiting;
  QString text;
  QString problem;                            ///< why the step failed or waits
  std::optional<trace::StepOutcome> outcome;  ///< how the step ended
  std::optional<double> timeToFirstToken;     ///< seconds
  std::int64_t generatedTokens = 0;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  QString server;  ///< name of the server that answered; empty: the embedded engine
  /// The report of the server about the server's cache. Nothing if the embedded engine answered, or the
  /// answer has not ended.
  std::optional<trace::CachedState> cached;
  QStringList notes;  ///< notes about the server's answer, such as a prediction
  QString brokenBy;   ///< why the server's answer broke off; empty: the answer is complete
  bool isCachedKnown() const {
    return cached != trace::CachedState::NotReported && cached != trace::CachedState::CannotReport;
  }
  QStringList accountWords;  ///< more facts about the prompt's tokens; not known for older sessions
  std::optional<trace::FidelityMetrics> fidelity;  ///< compared with a full prefill, if measured.
  /// The divergence of the arithmetic from f32, if it is not f32 and was measured.
  std::optional<trace::DivergenceMetrics> arithmeticMetrics;
  QString fullText;          ///< answer of a full prefill, if it differs
  bool isMeasuring = false;  ///< the fidelity of the answer is being measured
  double measuredShare = 0;  ///< progress of the measurement, 0 … 1
  QString measureReason;     ///< why the fidelity cannot be measured now; empty: measuring is possible
  QString measureProblem;    ///< why the last measurement failed
  RunId sameAs = 0;          ///< the last earlier run with the same finished answer of this step; 0: none
  QStringList sameBut;       ///< other differences of that run
  bool operator==(const Answer&) const = default;
};

struct OutputModel {
  std::vector<Answer> answers;  ///< the newest run first, and in a run the last step first
  std::size_t left = 0;         ///< older answers that are not in the list
  std::size_t others = 0;       ///< runs left out because they belong to other documents
  bool operator==(const OutputModel&) const = default;
};

/// The newest answers, at most `most`. `scope` decides which runs are in the list.
OutputModel outputModel(const ViewInput& input, std::size_t most = 50, RunScope scope = RunScope::All);

/// "not reported"
QString cachedStateText(trace::CachedState state);
/// "TTFT 3.1 ms · 8 generated · 70 of 83 prompt tokens cached (84 %)"
QString answerFacts(const Answer& answer);
/// "block attention ✓ · full prefill ≈ KL 0.012, 23 of 24 tokens agree, same answer". If nothing was
/// measured, only the policy's exactness.
QString exactnessText(const Answer& answer);
/// Compares the answer with a full prefill in a few words:
/// - the measured fidelity
/// - or the exactness of the policy
/// - or the progress of a measurement.
/// Empty if none of these facts is known, or if the answer has not finished.
QString fidelityHeadline(const Answer& answer);
/// The measured fidelity, one metric in each line. Empty if nothing was measured.
QString fidelityDetails(const Answer& answer);
/// "= same answer as run 2 (there: policy prefix)". Empty if there is no such run.
QString sameText(const Answer& answer);
/// A sentence if the query names another model than the one that answered. Otherwise empty.
QString modelText(const Answer& answer);
/// A sentence if the answer has finished and the model has another purpose than the query. Otherwise empty.
QString madeForText(const Answer& answer);
QString outputCsv(const OutputModel& model);

}  // namespace spanscope::ui
