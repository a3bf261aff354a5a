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

FidelityChoice choiceOf(const std::vector<run::FinishedReply>& replies) {
  FidelityChoice choice;
  for (const run::FinishedReply& reply : replies) choice.requests.push_back(reply.request);
  return choice;
}

}  // namespace

std::shared_ptr<RecordedJob> FidelityJob::make(const FidelityChoice& /*choice*/,
                                               std::vector<run::FinishedReply> replies) {
  return std::make_shared<FidelityJob>(std::move(replies));
}

FidelityJob::FidelityJob(std::vector<run::FinishedReply> replies)
    : RecordedJob(kId, trace::pack(choiceOf(replies)), replies), m_replies(std::move(replies)) {}

trace::EventWords FidelityJob::activity() const {
  if (replies() == 1) return {forTranslation("Events", "Comparing with a full prefill"), {}};
  return {forTranslation("Events", "Measuring fidelity: answer %1 of %2"),
          {std::uint64_t{std::min(measured() + 1, replies())}, std::uint64_t{replies()}}};
}

workbench::Begun FidelityJob::start(workbench::JobContext& place, const std::stop_token& stop) {
  std::optional<workbench::ModelBundle> exact;
  // A stop is the service's to tell; what it stopped would read as a problem.
  const auto note = [&](RequestId request, const NodePath& node, const Failure& failure) {
    if (stop.stop_requested()) throw failure;
    m_problems.push_back({.request = request, .node = node, .error = failure.error()});
  };
  const std::shared_ptr<workbench::ModelBundle> bundle = place.model();
  if (!m_replies.empty()) {
    place.sessionOf(m_replies.front().run);
    try {
      exact = place.loadExactBeside(stop);
    } catch (const Failure& failure) {
      note(0, {}, failure);
    }
  }
  for (const run::FinishedReply& reply : m_replies) {
    run::Session& session = place.sessionOf(reply.run);
    const experiment::FidelityModel model{.decoder = *bundle->decoder,
                                          .backend = *bundle->backend,
                                          .tokenizer = bundle->tokenizer.get(),
                                          .arithmetic = bundle->arithmetic,
                                          .exactDecoder = exact ? exact->decoder.get() : nullptr,
                                          .exactBackend = exact ? exact->backend.get() : nullptr};
    const auto progress = [this](double share) {
      m_share = (static_cast<double>(m_measured) + share) / static_cast<double>(m_replies.size());
      notifyProgress();
    };
    try {
      const experiment::MeasuredReply& found =
          m_found
              .emplace_back(
                  Found{.request = reply.request,
                        .reply = experiment::measureFidelity(session, model, reply, stop, progress)})
              .reply;
      place.recorder()->send(reply.run, reply.request, reply.node, found.fidelity);
      if (found.arithmetic) place.recorder()->send(reply.run, reply.request, reply.node, *found.arithmetic);
    } catch (const Failure& failure) {
      note(reply.request, reply.node, failure);
    }
    ++m_measured;
    progress(0);
  }
  if (!m_problems.empty()) throw Failure(m_problems.front().error);
  return workbench::Begun::Done;
}

}  // namespace spanscope::jobs
