// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/output/output_model.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/policy/choice.h"
#include "engine/policy/policies.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/run_history.h"
#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/session/trace_source.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <span>

namespace spanscope::ui {
namespace {

AnswerState stateOf(const trace::RequestState& request, const trace::RunState& run) {
  if (request.outcome) {
    switch (*request.outcome) {
      case trace::StepOutcome::EndToken:
      case trace::StepOutcome::TokenLimit:
      case trace::StepOutcome::ContextLimit:
        return AnswerState::Finished;
      case trace::StepOutcome::Stopped:
        return AnswerState::Stopped;
      case trace::StepOutcome::Failed:
        return AnswerState::Failed;
    }
  }
  if (run.outcome == trace::RunOutcome::Stopped) return AnswerState::Stopped;
  if (run.outcome == trace::RunOutcome::Failed) return AnswerState::Failed;
  if (request.generatedTokens > 0 || request.firstTokenAt >= 0) return AnswerState::Streaming;
  return request.phase == trace::RequestPhase::Running ? AnswerState::Computing : AnswerState::Waiting;
}

/// The error messages of a run up to the position. If `request` is 0, only messages that name no request;
/// else those of this request.
QString errorsOf(const ListedRun& run, RequestId request) {
  if (!run.trace) return tr("The session with the details of this failure has ended.");
  QStringList lines;
  for (const std::size_t index : run.trace->indicesOf<trace::MessageLogged>()) {
    if (index >= run.position) break;
    const trace::Event& event = run.trace->event(index);
    const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
    if (message == nullptr || message->severity != Severity::Error) continue;
    if (event.run == run.run && event.request == request)
      lines.push_back(QString::fromStdString(message->text));
  }
  return lines.join(QLatin1Char('\n'));
}

/// The notes on a server's answer; empty if its trace is no longer there.
QStringList notesOf(const ListedRun& run, RequestId request) {
  QStringList notes;
  if (!run.trace) return notes;
  for (const std::size_t index : run.trace->indicesOf<trace::MessageLogged>()) {
    if (index >= run.position) break;
    const trace::Event& event = run.trace->event(index);
    const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
    if (message != nullptr && message->severity == Severity::Note && event.request == request)
      notes.push_back(QString::fromStdString(message->text));
  }
  return notes;
}

/// The last earlier run of the same document in which the same step gave the same answer.
const ListedRun* sameAnswer(const std::vector<ListedRun>& runs, const ListedRun& run,
                            const trace::RequestState& request) {
  if (!request.outcome || request.text.empty()) return nullptr;
  for (auto other = runs.rbegin(); other != runs.rend(); ++other) {
    if (other->run >= run.run || other->document() != run.document() || other->isOwn != run.isOwn) continue;
    for (const RequestId id : other->state().requests) {
      const auto found = other->progress->requests.find(id);
      if (found == other->progress->requests.end() || !found->second.outcome) continue;
      if (found->second.node == request.node && found->second.copy == request.copy &&
          found->second.text == request.text) {
        return &*other;
      }
    }
  }
  return nullptr;
}

/// The references that the policy matches on this device and checkpoint. A reference that the checkpoint was
/// not trained for gets no tick.
QString exactnessOf(const policy::Choice& policy, bool isClose, const QString& untrainedModel) {
  QString text = QString::fromStdString(policy::exactnessOn(policy, !isClose));
  if (untrainedModel.isEmpty()) return text;
  QStringList parts = text.split(QStringLiteral(" · "));
  const QString tick = QStringLiteral(" ✓");
  for (QString& part : parts) {
    if (part.endsWith(tick))
      part = tr("with %1, for which %2 was not trained").arg(part.chopped(tick.size()), untrainedModel);
  }
  return parts.join(QStringLiteral(" · "));
}

bool holdsPlus(const document::Document& document) {
  const std::vector<document::NodeId> ids = document.ids();
  return std::any_of(ids.begin(), ids.end(), [&document](document::NodeId id) {
    const auto* join = document.at(id).own.as<query::Join>();
    return join != nullptr && join->kind == query::JoinKind::Plus;
  });
}

/// An answer with the facts of the run, and without facts of its steps.
Answer blankOf(const ViewInput& input, const ListedRun& listed, const std::vector<ListedRun>& runs) {
  const bool isNewest = &listed == &runs.back();
  const trace::RunState& run = listed.state();
  Answer blank;
  blank.run = listed.run;
  blank.policy = QString::fromStdString(run.policy);
  if (const layout::LayoutInfo& own = layout::infoOf(listed.layout()); own.layout != layout::Layout::Exact) {
    blank.layout = QString::fromUtf8(own.name);
    blank.over = QString::fromUtf8(own.over);
  }
  blank.model = listed.model;
  const bool others =
      std::any_of(runs.begin(), runs.end(), [](const ListedRun& other) { return !other.isOwn; });
  if (others) blank.document = listed.document();
  if (listed.record != nullptr) {
    blank.otherNames = listed.record->otherNames;
    blank.madeFor = listed.record->madeFor;
    if (const std::string& own = listed.record->settings.arithmetic;
        listed.record->hasSettings && own != workbench::RunSettings().arithmetic)
      blank.arithmetic = QString::fromStdString(own);
  }
  blank.time = runTime(listed);
  QStringList warnings;
  if (listed.record != nullptr && listed.record->metricValues)
    warnings = listed.record->warnings;
  else if (listed.trace)
    warnings = warningsOf(*listed.trace, listed.position, listed.run);
  const QString untrained = QString::fromStdString(policy::untrainedAdvice());
  const bool isUntrained = warnings.removeAll(untrained) > 0;
  const QString model = blank.model.isEmpty() ? tr("this checkpoint") : blank.model;
  const bool isClose = warnings.removeAll(QString::fromStdString(policy::closeDeviceAdvice())) > 0;
  if (const std::optional<policy::Choice> policy = policy::findChoice(run.policy))
    blank.exactness = exactnessOf(*policy, isClose, isUntrained ? model : QString());
  if (isUntrained) {
    warnings.prepend(
        tr("%1 was not trained for block attention. Expect a less accurate answer than with the policy %2.")
            .arg(model, QString::fromUtf8(policy::policyForAnyCheckpoint().name)));
  }
  blank.advice = warnings;
  blank.offersPolicies = isUntrained && listed.isOwn && input.replay.origin != TraceOrigin::File;
  const bool isAdapterKnown = listed.isOwn && !input.models.fittingAdapter.empty() &&
                              input.document->settings.adapter.empty() &&
                              input.replay.origin == TraceOrigin::Session;
  if (!isAdapterKnown) return blank;
  const QString adapter = QString::fromStdString(checkpoint::Checkpoint(input.models.fittingAdapter).name());
  if (isUntrained) {
    blank.fittingAdapter = adapter;
  } else if (isNewest && listed.progress->model == input.models.loaded && holdsPlus(*input.document) &&
             run.policy == policy::Choice(policy::policyForAnyCheckpoint()).name()) {
    blank.fittingAdapter = adapter;
    blank.offer = tr("%1 was not trained for block attention, so it runs with %2. With the adapter, answers "
                     "under %3 are closer to a full prefill.")
                      .arg(model, blank.policy, QString::fromUtf8(policy::standardPolicy().name));
  }
  return blank;
}

/// Why an answer cannot be measured. Finds only reasons that are cheap to find. Other reasons are reported
/// when the user requests the measurement.
QString reasonOf(const Answer& answer, const ViewInput& input, const ListedRun& listed) {
  if (isPredicted(listed)) return tr("This run is predicted. No part of the run was computed.");
  if (input.replay.origin == TraceOrigin::File)
    return tr("This run is recorded. Only the session that gave an answer can measure the answer.");
  if (input.replay.origin == TraceOrigin::Server || (listed.trace && isOfServers(*listed.trace)))
    return tr("A server gave this answer. Only answers of the embedded engine can be measured.");
  if (input.replay.origin != TraceOrigin::Session || listed.trace != input.trace)
    return tr("The session of this answer has ended. Run the query again.");
  if (answer.state != AnswerState::Finished || answer.generatedTokens == 0)
    return tr("The answer is not finished.");
  if (QString problem = policyReason(listed.state().policy); !problem.isEmpty()) return problem;
  return input.replay.engineIsBusy ? tr("The engine is busy.") : QString();
}

void noteFidelity(Answer& answer, const ViewInput& input, const ListedRun& listed) {
  const std::optional<double> share = fidelityShare(input, answer.request);
  answer.isMeasuring = share.has_value();
  if (share) answer.measuredShare = *share;
  answer.measureReason = reasonOf(answer, input, listed);
  if (!share) answer.measureProblem = fidelityProblem(listed, answer.request);
  if (answer.state != AnswerState::Finished) return;
  const trace::FidelityMeasured* measured = fidelityOf(listed, answer.request);
  if (measured == nullptr) return;
  answer.fidelity = trace::fidelityOf(std::span(&measured, 1));
  if (const trace::ArithmeticMeasured* arithmetic = arithmeticOf(listed, answer.request)) {
    answer.arithmetic = QString::fromStdString(arithmetic->arithmetic);
    answer.arithmeticMetrics = trace::arithmeticOf(std::span(&arithmetic, 1));
  }
  if (answer.fidelity->sampledSteps == 0 && !measured->sameText)
    answer.fullText = QString::fromStdString(measured->fullText);
}

QString natsText(double divergence) {
  return QString::fromStdString(metrics::text(metrics::Unit::Nats, divergence));
}

/// "KL divergence 0.012, median KL divergence 0.003, largest KL divergence 0.14 nats"
QString divergencesText(const trace::DivergenceMetrics& divergence) {
  return tr("%1 %2, %3 %4, %5 %6 nats")
      .arg(metricName("divergence"), natsText(divergence.meanDivergence), metricName("median-divergence"),
           natsText(divergence.medianDivergence), metricName("largest-divergence"),
           natsText(divergence.mostDivergence));
}

/// "23 of 24 agreeing"
QString agreementText(const trace::DivergenceMetrics& divergence) {
  return metricPhrase("agreeing-tokens", tr("%1 of %2").arg(divergence.agreeing).arg(divergence.tokens));
}

/// A divergence below 0.001 is not written out here. The details have all digits.
QString divergenceWords(const trace::DivergenceMetrics& divergence) {
  constexpr double kShown = 0.001;
  const bool isReported = divergence.meanDivergence == 0 || divergence.meanDivergence >= kShown;
  return isReported ? tr("%1 %2").arg(metricShortName("divergence"), natsText(divergence.meanDivergence))
                    : tr("%1 < 0.001").arg(metricShortName("divergence"));
}

}  // namespace

QString cachedStateText(trace::CachedState state) {
  switch (state) {
    case trace::CachedState::Found:
      return tr("found");
    case trace::CachedState::MeasuredZero:
      return tr("measured zero");
    case trace::CachedState::NotReported:
      return tr("not reported");
    case trace::CachedState::CannotReport:
      break;
  }
  return tr("cannot be reported");
}

OutputModel outputModel(const ViewInput& input, std::size_t most, RunScope scope) {
  OutputModel model;
  std::vector<ListedRun> runs = listRuns(input);
  if (scope == RunScope::Document) {
    const auto isOther = [](const ListedRun& run) { return !run.isOwn; };
    model.others = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), isOther));
    std::erase_if(runs, isOther);
  }
  for (auto entry = runs.rbegin(); entry != runs.rend(); ++entry) {
    const ListedRun& listed = *entry;
    const trace::Progress& progress = *listed.progress;
    const trace::RunState& run = listed.state();
    const bool room = model.answers.size() < most;
    StepNames names(input, progress);
    Answer blank = room ? blankOf(input, listed, runs) : Answer();
    const bool runProblem = run.outcome == trace::RunOutcome::Failed;
    // The error that failed a run before or beside its steps.
    const QString problem = runProblem && room ? errorsOf(listed, 0) : QString();
    bool reported = false;
    for (auto requestId = run.requests.rbegin(); requestId != run.requests.rend(); ++requestId) {
      const auto found = progress.requests.find(*requestId);
      if (found == progress.requests.end()) continue;
      if (model.answers.size() >= most) {
        ++model.left;
        continue;
      }
      const trace::RequestState& request = found->second;
      Answer answer = blank;
      answer.request = *requestId;
      answer.node = request.node;
      answer.name = names.of(request);
      answer.state = stateOf(request, run);
      answer.text = QString::fromStdString(request.text);
      answer.outcome = request.outcome;
      answer.generatedTokens = request.generatedTokens;
      answer.promptTokens = request.promptTokens;
      answer.cachedTokens = request.cachedTokens;
      if (listed.trace == input.trace && !request.blocks.empty()) {
        const RequestAccount tokens(input, *requestId);
        const TokenAccount account = tokens.prompt();
        answer.promptTokens = account.total();
        answer.cachedTokens = account.cached();
        answer.accountWords = accountWords(account);
        if (tokens.beside() > 0)
          answer.accountWords << metricPhrase("tokens-beside-the-prompt",
                                              static_cast<double>(tokens.beside()));
      }
      if (request.metrics && request.metrics->generatedTokens > 0) {
        answer.timeToFirstToken = request.metrics->timeToFirstToken;
      }
      if (request.reported) {
        answer.timeToFirstToken = request.reported->timeToFirstToken;
        answer.cached = request.reported->cached;
        answer.server = QString::fromStdString(request.reported->server);
        answer.model = QString::fromStdString(request.reported->model);
        answer.brokenBy = QString::fromStdString(request.reported->brokenBy);
        answer.notes = notesOf(listed, *requestId);
      }
      if (isPredicted(listed)) answer.notes = notesOf(listed, *requestId);
      if (answer.state == AnswerState::Failed) answer.problem = errorsOf(listed, *requestId);
      if (answer.state == AnswerState::Waiting) answer.problem = QString::fromStdString(request.waitReason);
      noteFidelity(answer, input, listed);
      if (const ListedRun* same = sameAnswer(runs, listed, request)) {
        answer.sameAs = same->run;
        answer.sameBut = differencesOf(listed, *same);
      }
      reported |= !answer.problem.isEmpty() && answer.state == AnswerState::Failed;
      model.answers.push_back(std::move(answer));
      // The note appears only once.
      if (!blank.offer.isEmpty()) blank.fittingAdapter.clear();
      blank.offer.clear();
    }
    const bool silent = run.requests.empty() && run.outcome.has_value();
    if (!(runProblem && (!reported || !problem.isEmpty())) && !silent) continue;
    if (!room) {
      ++model.left;
      continue;
    }
    blank.name = tr("run");
    blank.state = runProblem                                  ? AnswerState::Failed
                  : run.outcome == trace::RunOutcome::Stopped ? AnswerState::Stopped
                                                              : AnswerState::Finished;
    blank.text = QString::fromStdString(run.answer);
    blank.problem = problem;
    model.answers.push_back(std::move(blank));
  }
  return model;
}

QString answerFacts(const Answer& answer) {
  QStringList facts;
  if (answer.timeToFirstToken) facts.push_back(metricPhrase("time-to-first-token", *answer.timeToFirstToken));
  if (answer.generatedTokens > 0) {
    facts.push_back(metricPhrase("generated-tokens", static_cast<double>(answer.generatedTokens)));
  }
  const bool isSilent = !answer.isCachedKnown();
  if (answer.promptTokens > 0 && !isSilent) {
    facts.push_back(metricShare("cached-tokens", answer.cachedTokens, "prompt-tokens", answer.promptTokens));
  }
  if (answer.promptTokens > 0 && isSilent)
    facts.push_back(tr("%1 %2").arg(answer.promptTokens).arg(metricName("prompt-tokens")));
  // A failed request gives no information about the setup of the server.
  const bool hasFailed = answer.state == AnswerState::Failed;
  if (answer.cached == trace::CachedState::NotReported && !hasFailed)
    facts.push_back(tr("%1 not reported").arg(metricName("cached-tokens")));
  if (answer.cached == trace::CachedState::CannotReport)
    facts.push_back(tr("%1 cannot be reported").arg(metricName("cached-tokens")));
  facts += answer.accountWords;
  if (answer.outcome == trace::StepOutcome::TokenLimit) facts.push_back(tr("ended by the token limit"));
  if (answer.outcome == trace::StepOutcome::ContextLimit) {
    facts.push_back(tr(/*id:ended-with-the-context*/ "ended where the model's context ends"));
  }
  return (QStringList{facts.join(tr(" · "))} + answer.notes).join(QLatin1Char('\n'));
}

QString exactnessText(const Answer& answer) {
  const auto over = [&](const QString& text) {
    return answer.over.isEmpty() || text.isEmpty() ? text : tr("%1, %2").arg(text, answer.over);
  };
  if (!answer.fidelity) return over(answer.exactness);
  const trace::FidelityMetrics& fidelity = *answer.fidelity;
  QString measured = divergenceWords(fidelity);
  measured += tr(", %1").arg(agreementText(fidelity));
  if (fidelity.sampledSteps == 0) {
    measured += fidelity.sameAnswers == 1    ? tr(", same answer")
                : fidelity.agreedTokens == 0 ? tr(", different answer from the first token on")
                : fidelity.agreedTokens == 1
                    ? tr(", different answer after 1 token")
                    : tr(", different answer after %1 tokens").arg(fidelity.agreedTokens);
  }
  QStringList parts = answer.exactness.split(tr(" · "), Qt::SkipEmptyParts);
  const auto full = std::find_if(parts.begin(), parts.end(), [](const QString& part) {
    return part.startsWith(QStringLiteral("full prefill"));
  });
  if (full == parts.end()) {
    parts += tr("full prefill: %1").arg(measured);
  } else {
    *full = tr("%1 %2").arg(*full, measured);
  }
  return over(parts.join(tr(" · ")));
}

QString fidelityHeadline(const Answer& answer) {
  if (!answer.server.isEmpty()) return {};
  if (answer.isMeasuring)
    return tr("Measuring fidelity: %1 %").arg(static_cast<int>(answer.measuredShare * 100));
  if (answer.state != AnswerState::Finished || answer.generatedTokens == 0) return {};
  if (!answer.fidelity) {
    if (!answer.exactness.contains(QStringLiteral("full prefill ✓")))
      return tr(/*id:not-compared-yet*/ "Not compared with a full prefill yet");
    // A layout puts other tokens into the prompt than the chat template does.
    return answer.over.isEmpty()
               ? tr(/*id:exact-equal-prefill*/ "Exact: equal to a full prefill")
               : tr(/*id:exact-of-these-tokens*/ "Exact: equal to a full prefill of these tokens");
  }
  const trace::FidelityMetrics& fidelity = *answer.fidelity;
  // After the first different token, agreement by position has little meaning. So answers come first.
  const QString said =
      fidelity.sampledSteps > 0
          ? tr(/*id:agreement-with-prefill*/ "%1 with a full prefill").arg(agreementText(fidelity))
      : fidelity.sameAnswers == 1  ? tr(/*id:same-answer-as-prefill*/ "The same answer as a full prefill")
       : fidelity.agreedTokens == 0 ? tr(/*id:prefill-differs-at-first*/
                                        "A full prefill gives a different answer, from the first token on")
       : fidelity.agreedTokens == 1
          ? tr("A full prefill gives a different answer after 1 token")
          : tr(/*id:prefill-differs-after*/ "A full prefill gives a different answer after %1 tokens")
                .arg(fidelity.agreedTokens);
  QString headline = tr("%1 · %2").arg(said, divergenceWords(fidelity));
  if (answer.arithmeticMetrics)
    headline += tr(" · difference between %1 and f32: %2")
                    .arg(answer.arithmetic, divergenceWords(*answer.arithmeticMetrics));
  return headline;
}

QString fidelityDetails(const Answer& answer) {
  if (!answer.fidelity) return {};
  const trace::FidelityMetrics& fidelity = *answer.fidelity;
  QStringList lines{
      answer.layout.isEmpty()
          ? tr("Compared with a full prefill of the same tokens:")
          : tr("Compared with a full prefill of the same tokens in the layout %1:").arg(answer.layout),
      divergencesText(fidelity), tr("%1: %2").arg(metricTitle("agreeing-tokens"), agreementText(fidelity))};
  if (fidelity.sampledSteps > 0)
    lines += tr("The answer was sampled, so it cannot be compared with another answer");
  else
    lines += fidelity.sameAnswers == 1
                 ? tr("A full prefill gives the same answer")
                 : tr("A full prefill gives a different answer. Equal tokens before the first difference: %1")
                       .arg(fidelity.agreedTokens);
  if (fidelity.meanAttentionDeviation())
    lines +=
        tr("%1: %2").arg(metricTitle("attention-deviation"), metricText("attention-deviation", fidelity));
  if (answer.arithmeticMetrics) {
    const trace::DivergenceMetrics& arithmetic = *answer.arithmeticMetrics;
    lines += tr("A full prefill in %1 arithmetic, compared with one in f32: %2; %3")
                 .arg(answer.arithmetic, divergencesText(arithmetic), agreementText(arithmetic));
  }
  return lines.join(QLatin1Char('\n'));
}

QString sameText(const Answer& answer) {
  if (answer.sameAs == 0) return {};
  const QString text = tr("= same answer as run %1").arg(answer.sameAs);
  return answer.sameBut.isEmpty() ? text : tr("%1 (there: %2)").arg(text, answer.sameBut.join(tr(", ")));
}

QString modelText(const Answer& answer) {
  if (answer.model.isEmpty() || answer.otherNames.isEmpty()) return {};
  return tr("%1 answered; the query names %2.").arg(answer.model, answer.otherNames.join(tr(", ")));
}

QString madeForText(const Answer& answer) {
  if (answer.madeFor.isEmpty() || answer.state != AnswerState::Finished) return {};
  return tr(/*id:made-for*/ "This tiny model was made for %1. Use another model for your own texts.")
      .arg(answer.madeFor);
}

QString outputCsv(const OutputModel& model) {
  QString text = csvLine({tr("run"),
                          tr("query"),
                          tr("model"),
                          tr("policy"),
                          tr("layout"),
                          tr("request"),
                          tr("step"),
                          tr("text"),
                          tr("problem"),
                          metricHeading("time-to-first-token"),
                          metricHeading("generated-tokens"),
                          metricHeading("prompt-tokens"),
                          metricHeading("cached-tokens"),
                          tr("same answer as run"),
                          tr("%1, mean").arg(metricHeading("divergence")),
                          tr("%1, median").arg(metricHeading("divergence")),
                          metricHeading("largest-divergence"),
                          metricHeading("agreeing-tokens"),
                          tr("full prefill answers"),
                          tr("arithmetic"),
                          tr("%1, compared with f32").arg(metricHeading("divergence")),
                          tr("%1, compared with f32").arg(metricHeading("largest-divergence")),
                          tr("%1, with f32").arg(metricHeading("agreeing-tokens")),
                          tr("server"),
                          tr("%1, state").arg(metricShortName("cached-tokens"))});
  for (const Answer& answer : model.answers) {
    text +=
        csvLine({QString::number(answer.run),
                 answer.document,
                 answer.model,
                 answer.policy,
                 answer.layout.isEmpty() ? QStringLiteral("exact") : answer.layout,
                 answer.request == 0 ? QString() : QString::number(answer.request),
                 answer.name,
                 answer.text,
                 answer.problem,
                 answer.timeToFirstToken ? csvNumber(*answer.timeToFirstToken * 1000) : QString(),
                 QString::number(answer.generatedTokens),
                 QString::number(answer.promptTokens),
                 answer.isCachedKnown() ? QString::number(answer.cachedTokens) : QString(),
                 answer.sameAs == 0 ? QString() : QString::number(answer.sameAs),
                 answer.fidelity ? csvNumber(answer.fidelity->meanDivergence) : QString(),
                 answer.fidelity ? csvNumber(answer.fidelity->medianDivergence) : QString(),
                 answer.fidelity ? csvNumber(answer.fidelity->mostDivergence) : QString(),
                 answer.fidelity ? QString::number(answer.fidelity->agreeing) : QString(),
                 answer.fullText,
                 answer.arithmetic.isEmpty() ? QStringLiteral("f32") : answer.arithmetic,
                 answer.arithmeticMetrics ? csvNumber(answer.arithmeticMetrics->meanDivergence) : QString(),
                 answer.arithmeticMetrics ? csvNumber(answer.arithmeticMetrics->mostDivergence) : QString(),
                 answer.arithmeticMetrics ? QString::number(answer.arithmeticMetrics->agreeing) : QString(),
                 answer.server,
                 answer.cached ? cachedStateText(*answer.cached) : QString()});
  }
  return text;
}

}  // namespace spanscope::ui
