// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of every step, newest run first.
#pragma once

#include "engine/trace/fidelity_figures.h"
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
  QString layout;          ///< where it is not the exact one, by its name
  QString exactness;       ///< of the policy on this checkpoint, in words
  QString over;            ///< over which tokens, where the layout is not exact: what is said behind it
  QString model;           ///< name of the checkpoint that answered; empty: not known
  QString document;        ///< its title, where runs of several are in the list
  QString time;            ///< when the run started; empty: not known
  QStringList otherNames;  ///< models that the query names instead of it
  QStringList advice;      ///< what the engine warned of
  AnswerState state = AnswerState::Waiting;
  QString text;
  QString problem;                            ///< why it failed or waits
  std::optional<trace::StepOutcome> outcome;  ///< how the step has ended
  std::optional<double> timeToFirstToken;     ///< seconds
  std::int64_t generatedTokens = 0;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  std::optional<trace::FidelityFigures> fidelity;  ///< against a full prefill, where it was measured
  QString fullText;          ///< what a full prefill answers, where that is another answer
  bool isMeasuring = false;  ///< its fidelity is being measured
  QString measureObstacle;   ///< why its fidelity cannot be measured now; empty: it can
  QString measureProblem;    ///< why it could not be the last time
  RunId sameAs = 0;          ///< the nearest run before with the same finished answer of this step; 0: none
  QStringList sameBut;       ///< what else of that run is another
  bool operator==(const Answer&) const = default;
};

struct OutputModel {
  std::vector<Answer> answers;  ///< newest run first, its last step first
  std::size_t left = 0;         ///< older ones that are not in the list
  std::size_t others = 0;       ///< runs that are left out, being of other documents
  bool operator==(const OutputModel&) const = default;
};

/// `scope`: whose runs are in it.
OutputModel outputModel(const ViewInput& input, std::size_t most = 50, RunScope scope = RunScope::All);

/// "TTFT 3.1 ms · 8 tokens · 70 of 83 prompt tokens cached (84 %)"
QString answerFacts(const Answer& answer);
/// "block attention ✓ · full prefill ≈ KL 0.012, 23 of 24 tokens agree, same answer"; the policy's exactness
/// alone where nothing was measured.
QString exactnessText(const Answer& answer);
/// What was measured, a figure a line; empty where nothing was.
QString fidelityDetails(const Answer& answer);
/// "= same answer as run 2 (there: policy prefix)"; empty where there is no such run.
QString sameText(const Answer& answer);
/// Where the query names another model than the one that answered: that it does.
QString modelText(const Answer& answer);
QString outputCsv(const OutputModel& model);

}  // namespace spanscope::ui
