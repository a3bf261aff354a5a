// SPDX-License-Identifier: GPL-3.0-or-later
// A server over a stand-in for the engine, and what its tests ask it.
#pragma once

#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"

#include <string>
#include <utility>

namespace spanscope::server::test {

inline ServerConfig freePort() {
  ServerConfig config;
  config.port = 0;
  return config;
}

/// A server over a stand-in for the engine.
struct Running {
  explicit Running(ServerConfig config = freePort()) : server(std::move(config), engine) { server.start(); }

  HttpAnswer post(const std::string& path, const std::string& body, const Headers& headers = {}) {
    return ask(server.port(), "POST", path, body, headers);
  }
  HttpAnswer get(const std::string& path, const Headers& headers = {}) {
    return ask(server.port(), "GET", path, {}, headers);
  }

  StandInEngine engine;
  Server server;
};

inline const std::string kChat = "/v1/chat/completions";

/// A chat with more members before its messages: R"("stream":true,)".
inline std::string chatWith(const std::string& members = {}) {
  return "{" + members +
         R"("messages":[{"role":"system","content":"You answer."},)"
         R"({"role":"user","content":"Where does Mira live?"}]})";
}

}  // namespace spanscope::server::test
