// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/fidelity.h"

#include "engine/run/session.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace spanscope::jobs {
namespace {

FidelityChoice choiceOf(const std::vector<run::FinishedAnswer>& answers) {
  FidelityChoice choice;
  for (const run::FinishedAnswer& answer : answers) choice.requests.push_back(answer.request);
  return choice;
}

}  // namespace

std::shared_ptr<RecordedJob> FidelityJob::make(const FidelityChoice& /*choice*/,
                                               std::vector<run::FinishedAnswer> answers) {
  return std::make_shared<FidelityJob>(std::move(answers));
}

FidelityJob::FidelityJob(std::vector<run::FinishedAnswer> answers)
    : RecordedJob(kId, trace::pack(choiceOf(answers)), answers), m_answers(std::move(answers)) {}

trace::EventWords FidelityJob::activity() const {
  if (answers() == 1) return {forTranslation("Events", "Comparing with a full prefill"), {}};
  return {forTranslation("Events", "Measuring fidelity: answer %1 of %2"),
          {std::uint64_t{std::min(measured() + 1, answers())}, std::uint64_t{answers()}}};
}

workbench::Begun FidelityJob::start(workbench::JobContext& place, const std::stop_token& stop) {
  std::optional<workbench::ModelBundle> exact;
  // The service reports a stop. A failure after a stop request is no problem of the answer.
  const auto note = [&](RequestId request, const NodePath& node, const Failure& failure) {
    if (stop.stop_requested()) throw failure;
    m_problems.push_back({.request = request, .node = node, .error = failure.error()});
  };
  const std::shared_ptr<workbench::ModelBundle> bundle = place.model();
  if (!m_answers.empty()) {
    place.sessionOf(m_answers.front().run);
    try {
      exact = place.loadExactBeside(stop);
    } catch (const Failure& failure) {
      note(0, {}, failure);
    }
  }
  for (const run::FinishedAnswer& answer : m_answers) {
    run::Session& session = place.sessionOf(answer.run);
    const experiment::FidelityModel model{.decoder = *bundle->decoder,
                                          .backend = *bundle->backend,
                                          .tokenizer = bundle->tokenizer.get(),
                                          .arithmetic = bundle->arithmetic,
                                          .exactDecoder = exact ? exact->decoder.get() : nullptr,
                                          .exactBackend = exact ? exact->backend.get() : nullptr};
    const auto progress = [this](double share) {
      m_share = (static_cast<double>(m_measured) + share) / static_cast<double>(m_answers.size());
      notifyProgress();
    };
    try {
      const experiment::MeasuredAnswer& found =
          m_found
              .emplace_back(
                  Found{.request = answer.request,
                        .answer = experiment::measureFidelity(session, model, answer, stop, progress)})
              .answer;
      place.recorder()->send(answer.run, answer.request, answer.node, found.fidelity);
      if (found.arithmetic)
        place.recorder()->send(answer.run, answer.request, answer.node, *found.arithmetic);
    } catch (const Failure& failure) {
      note(answer.request, answer.node, failure);
    }
    ++m_measured;
    progress(0);
  }
  if (!m_problems.empty()) throw Failure(m_problems.front().error);
  return workbench::Begun::Done;
}

}  // namespace spanscope::jobs
