// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"

#include <functional>
#include <memory>
#include <vector>

namespace spanscope::test {

/// Keeps every event.
class RecordingSink final : public trace::Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const trace::Event& event : events) {
      if (const auto* payload = std::get_if<T>(&event.payload)) found.push_back(*payload);
    }
    return found;
  }

  std::vector<trace::Event> events;
  std::function<void(const trace::Event&)> onEvent;
};

/// The configuration of a Llama with a few thousand parameters.
model::ModelConfig tinyConfig();

/// The same size with what other families do.
struct NamedConfig {
  const char* name = "";
  model::ModelConfig config;
};
std::vector<NamedConfig> familyConfigs();

/// A session on a random tiny model, without a tokenizer.
struct TinySession {
  TinySession(int threads, const run::SessionConfig& config, const model::ModelConfig& shape = tinyConfig());

  RecordingSink sink;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<run::Session> session;
};

/// A session on the bundled checkpoint.
struct SpanletSession {
  /// `maxPositions` limits the context; 0: the checkpoint's own limit.
  explicit SpanletSession(const run::SessionConfig& config = {}, int threads = 2, bool blockAttention = true,
                          std::int32_t maxPositions = 0);

  RecordingSink sink;
  model::ModelConfig config;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<run::Session> session;
};

/// A session on a random model with the tokenizer and template of the bundled checkpoint.
struct RandomSession {
  /// If `endTokens`, answers of all lengths occur; else each has its max length. `maxPositions` limits the
  /// model's context; 0: its own limit. `family`: the architecture of the model, except for its vocabulary.
  RandomSession(const run::SessionConfig& config, bool endTokens, std::int32_t maxPositions = 0,
                const model::ModelConfig& family = tinyConfig());

  model::ModelConfig shape;
  RecordingSink sink;
  std::unique_ptr<text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<run::Session> session;
};

}  // namespace spanscope::test
