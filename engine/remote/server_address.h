// SPDX-License-Identifier: GPL-3.0-or-later
// Checks the address of a server before anything is sent there. Open this file when an address is refused.
#pragma once

#include "engine/base/error.h"

#include <string>
#include <variant>

namespace spanscope::remote {

/// The facts that a program needs about an address before it sends something there.
struct ServerAddress {
  std::string host;         ///< a name or a number; an IPv6 address without its brackets
  bool isLoopback = false;  ///< whether it is this machine: localhost, 127.0.0.0/8 or ::1
};

/// Reads the address of an API, e.g. "http://127.0.0.1:8000/v1". The error has no file. These addresses are
/// refused:
/// - an address that is neither http nor https, or has no host;
/// - an address with a user name or a password, because messages show addresses;
/// - an address with a query or a fragment, because paths are appended to it.
std::variant<ServerAddress, Error> readServerAddress(const std::string& url);

}  // namespace spanscope::remote
