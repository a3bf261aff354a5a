// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/api_error.h"

#include <nlohmann/json.hpp>

namespace spanscope::server {

std::string errorJson(const ApiError& error) {
  using Json = nlohmann::ordered_json;
  const auto orNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const Json json = {{"error",
                      {{"message", error.message},
                       {"type", error.type},
                       {"param", orNull(error.param)},
                       {"code", orNull(error.code)}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ApiError outOfMemory() {
  return {
      .status = 503,
      .message =
          "There is not enough memory for this request. Send a smaller request, or fewer at the same time.",
      .type = "overloaded_error",
      .code = "out_of_memory"};
}

ApiError serverIsEnding() {
  return {.status = 503,
          .message = "This server is shutting down and accepts no new requests.",
          .type = "overloaded_error",
          .code = "server_is_ending"};
}

void refuseField(std::string param, std::string message, std::string code) {
  throw ApiFailure({.message = std::move(message), .param = std::move(param), .code = std::move(code)});
}

}  // namespace spanscope::server
