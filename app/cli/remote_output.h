// SPDX-License-Identifier: GPL-3.0-or-later
// What a run on a server writes: answers as they come, and what became of each step.
#pragma once

#include "app/cli/command.h"
#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace spanscope::cli {

/// Writes answers in the order of the query: the text alone on standard output. The first one that has not
/// ended is written as it comes; later ones wait for their turn. Errors go to standard error at once.
class AnswerPrinter final : public remote::RemoteWatcher {
 public:
  AnswerPrinter(const Context& context, const std::vector<remote::RemoteTarget>& targets,
                const std::vector<exports::ChatRequest>& requests, bool isSilent)
      : m_context(context),
        m_targets(targets),
        m_requests(requests),
        m_isSilent(isSilent),
        m_answers(requests.size()) {}

  void stepBegins(std::size_t request) override;
  void changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                       const remote::Protocol& now) override;
  void promptProgress(std::size_t request, const remote::PromptProgress& progress) override;
  void text(std::size_t request, const std::string& piece) override;
  void fails(std::size_t request, const Error& error) override;
  void stepEnds(const remote::RemoteStep& step) override;
  /// Writes what still waits for its turn, when nothing more comes.
  void end();

 private:
  struct Answer {
    std::string text;  ///< that is not written yet
    bool hasBegun = false;
    bool hasText = false;
    bool hasEnded = false;
  };

  void pass();
  void writeHead();
  void writeText();

  const Context& m_context;
  const std::vector<remote::RemoteTarget>& m_targets;
  const std::vector<exports::ChatRequest>& m_requests;
  bool m_isSilent;
  std::vector<Answer> m_answers;
  std::size_t m_turn = 0;
  bool m_isInLine = false;  ///< whether the last line that was written has no end yet
};

/// A table of the steps, and how they were sent.
std::string stepsText(const std::vector<exports::ChatRequest>& requests, const remote::RemoteResult& result,
                      const remote::RemoteTarget& target);
nlohmann::ordered_json stepsJson(const std::vector<exports::ChatRequest>& requests,
                                 const remote::RemoteResult& result);

/// What a server is and what it can do, for people: a fact a line, under a table of its models.
std::string factsText(const remote::ServerFacts& facts);
nlohmann::ordered_json factsJson(const remote::ServerFacts& facts);

}  // namespace spanscope::cli
