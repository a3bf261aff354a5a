// SPDX-License-Identifier: GPL-3.0-or-later
// An engine without a model: it says the same to everyone, as fast or as slowly as a test wants.
#pragma once

#include "engine/remote/server/engine.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::server::test {

/// One token for each byte, and one control piece that ends answers.
class ByteTokenizer final : public text::Tokenizer {
 public:
  static constexpr TokenId kEnd = 256;
  void encodeTo(std::string_view text, const std::stop_token& stop,
                const text::TokenSink& sink) const override;
  TokenId controlId(std::string_view piece) const override { return piece == "<end>" ? kEnd : -1; }
  std::string bytes(TokenId id) const override;
  std::string display(TokenId id) const override;
  bool isControl(TokenId id) const override { return id == kEnd; }
  std::int32_t vocabularySize() const override { return kEnd + 1; }
};

class StandInEngine final : public Engine {
 public:
  StandInEngine();
  ~StandInEngine() override;

  const ServedModel& model() const override { return m_model; }
  std::unique_ptr<RunHandle> begin(RunOrder order, std::shared_ptr<RunListener> listener) override;
  void setListener(std::function<void(const trace::Event&)> listener) override;

  std::string reply = "Mira lives in Lisbon.";  ///< to everyone
  std::atomic<std::chrono::milliseconds> perToken{std::chrono::milliseconds(0)};
  std::string problem;  ///< not empty: every run fails with it
  bool problemIsOfInput = false;
  std::optional<run::TooLongPrompt> tooLong;

  int begun() const { return m_begun; }
  int stopped() const { return m_stopped; }
  int going() const { return m_going; }
  /// What the last run was given.
  run::RunOptions lastOptions() const;
  plan::Plan lastPlan() const;

 private:
  struct Run;
  void carryOut(const RunOrder& order, RunListener& listener, RunId run, const std::stop_token& stop);

  ByteTokenizer m_tokenizer;
  text::ChatTemplate m_chat;
  ServedModel m_model;
  std::atomic<int> m_begun = 0;
  std::atomic<int> m_stopped = 0;
  std::atomic<int> m_going = 0;
  mutable std::mutex m_mutex;
  std::function<void(const trace::Event&)> m_listener;
  RunOrder m_last;
  std::vector<std::jthread> m_threads;
};

}  // namespace spanscope::server::test
