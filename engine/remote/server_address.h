// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <string>
#include <variant>

namespace spanscope::remote {

/// What a program has to know of an address before it sends something there.
struct ServerAddress {
  std::string host;         ///< a name or a number, without the brackets of an IPv6 one
  bool isLoopback = false;  ///< this machine: localhost, 127.0.0.0/8 or ::1
};

/// Reads the address of an API, e.g. "http://127.0.0.1:8000/v1". Refused is what is neither http nor https,
/// what has no host, what holds a user name or a password (messages name addresses), and what has a query or
/// a fragment (paths are added at the end). The error has no file.
std::variant<ServerAddress, Error> readServerAddress(const std::string& url);

}  // namespace spanscope::remote
