// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/fidelity_work.h"

#include "engine/base/error.h"
#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <memory>
#include <optional>
#include <utility>

namespace spanscope::workbench {

FidelityWork::FidelityWork(std::vector<run::FinishedReply> replies) : m_replies(std::move(replies)) {}

Begun FidelityWork::begin(Workplace& place, const std::stop_token& stop) {
  std::optional<ModelBundle> exact;
  // A stop is the service's to tell; what it stopped would read as a problem.
  const auto note = [&](RequestId request, const NodePath& node, const Failure& failure) {
    if (stop.stop_requested()) throw failure;
    m_problems.push_back({.request = request, .node = node, .error = failure.error()});
  };
  const std::shared_ptr<ModelBundle> bundle = place.model();
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
      tellProgress();
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
  return Begun::Done;
}

}  // namespace spanscope::workbench
