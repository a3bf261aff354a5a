// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/twin/servers.h"
#include "engine/twin/telling/cache_teller.h"
#include "engine/workbench/servers/server_prompts.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// Which twin tells.
struct TwinStoryTitle {
  const twin::Server* server = nullptr;  ///< never null
  std::string name;                      ///< "vLLM", "gpu-3, vLLM"
  std::string setup;                     ///< "blocks of 16 tokens"
  std::string model;                     ///< directory of the model whose tokens it gets
  std::size_t atOnce = 1;                ///< requests of a query that it gets at the same time
};

/// Has a twin serve queries one after the other and writes a trace, with a run for each query. The trace has
/// a reply only where it is known. An unknown reply takes the room of as many tokens as one may expect.
class TwinStory {
 public:
  /// `twin` must outlive this object.
  TwinStory(TwinStoryTitle title, twin::Twin& twin, std::shared_ptr<const text::Tokenizer> tokenizer);

  /// Serves the prompts of a query in the order in which they are sent: a run. Gives what is found of each,
  /// in the order of the query.
  std::vector<twin::Answer> serve(const std::string& queryJson, const std::vector<ServerPrompt>& prompts);
  std::vector<trace::Event> events() const { return m_teller.events(); }

 private:
  void tellPrompt(const twin::ToldRequest& about, const ServerPrompt& prompt);
  void tellAnswer(const twin::ToldRequest& about, const ServerPrompt& prompt, const twin::Answer& answer);
  void note(const twin::ToldRequest& about, std::string text);

  TwinStoryTitle m_title;
  twin::Twin& m_twin;
  twin::CacheTeller m_teller;
  RunId m_run = 0;
  RequestId m_request = 0;
};

}  // namespace spanscope::workbench
