// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <string>
#include <variant>

namespace spanscope::remote {

/// What a program must know about an address before it sends something there.
struct ServerAddress {
  std::string host;         ///< a name or a number; an IPv6 address without its brackets
  bool isLoopback = false;  ///< whether it is this machine: localhost, 127.0.0.0/8 or ::1
};

/// Reads the address of an API, e.g. "http://127.0.0.1:8000/v1". It refuses an address that is neither http
/// nor https, has no host, contains a user name or a password (messages show addresses), or has a query or a
/// fragment (paths are appended to the address). The error has no file.
std::variant<ServerAddress, Error> readServerAddress(const std::string& url);

}  // namespace spanscope::remote
