// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/summary_tree.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"

#include <cstddef>
#include <memory>
#include <string>

namespace spanscope::workbench {

/// Writes summaries with a loaded model. A call makes one plan with a generate step for each group, so that
/// they share forward passes. The session has a cache of its own, so the cache for runs does not change.
class SessionSummarizer final : public retrieve::Summarizer {
 public:
  /// The model must outlive the summarizer, and nothing else may use it at the same time. Throws Failure if
  /// the session's cache cannot be allocated.
  explicit SessionSummarizer(ModelBundle& model);

  std::string fingerprint() const override;
  std::size_t groupSize() const override { return 4; }
  /// Generates greedily, so that equal texts have equal summaries. Throws Failure for texts that do not fit
  /// into the model's context.
  std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                     std::stop_token stop) override;

 private:
  /// Drops all events: summaries are not runs of the person, so nobody sees their events.
  class NoEvents final : public trace::Sink {
   public:
    std::uint64_t send(RunId, RequestId, const NodePath&, trace::Payload) override { return ++m_count; }

   private:
    std::uint64_t m_count = 0;
  };

  ModelBundle& m_model;
  NoEvents m_sink;
  std::unique_ptr<run::Session> m_session;
};

}  // namespace spanscope::workbench
