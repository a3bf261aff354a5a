// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of servers in the desktop's secret store (org.freedesktop.secrets: gnome-keyring, KWallet, KeePassXC).
// A key is found by the name that a person gave the server. The calls wait for the store, which may ask the
// person to unlock it: call them on a thread that may wait. A stop ends the wait.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::remote {

/// All of them throw Failure where there is no such store, or it refuses; no message holds a key.

/// Nothing: it has no key of this server.
std::optional<std::string> findSecret(const std::string& server, const std::stop_token& stop = {});
/// Replaces an older key.
void keepSecret(const std::string& server, const std::string& key, const std::stop_token& stop = {});
/// Nothing happens where there is none.
void forgetSecret(const std::string& server, const std::stop_token& stop = {});

}  // namespace spanscope::remote
