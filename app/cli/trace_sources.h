// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/event.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <vector>

namespace spanscope::cli {

/// A document of a prompt, with its share in what the reply read.
struct TraceSource {
  NodePath node;
  std::string text;  ///< text of its tokens as they are shown
  std::int64_t tokens = 0;
  double share = 0;  ///< as in engine/trace/prompt_parts.h
};

/// The documents of one request, if its attention was recorded.
struct RequestSources {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
  std::string reply;
  std::vector<TraceSource> sources;  ///< the largest share first
};

/// The sources of every request for which attention was recorded, in order.
std::vector<RequestSources> sourcesOf(std::span<const trace::Event> events);

std::string sourcesText(const std::vector<RequestSources>& requests);
nlohmann::ordered_json sourcesJson(const std::vector<RequestSources>& requests);

}  // namespace spanscope::cli
