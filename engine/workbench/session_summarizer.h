// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/summarizer.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"

#include <cstddef>
#include <memory>
#include <string>

namespace spanscope::workbench {

/// Writes summaries with a loaded model: a generate step for each group, all of a call in one plan, so that
/// they share forward passes. Its session has a cache of its own: what stands there for a run stays.
class SessionSummarizer final : public retrieve::Summarizer {
 public:
  /// The model outlives it, and nothing else uses it at the same time. Throws Failure if the session's cache
  /// cannot be had.
  explicit SessionSummarizer(ModelBundle& model);

  std::string fingerprint() const override;
  std::size_t groupSize() const override { return 4; }
  /// Greedy, so that the same texts have the same summary. Throws Failure for texts that do not fit the
  /// model's context.
  std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                     std::stop_token stop) override;

 private:
  /// Summaries are no run of the person's: nobody sees their events.
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
