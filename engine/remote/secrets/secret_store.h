// SPDX-License-Identifier: GPL-3.0-or-later
// Stores keys of servers in the desktop's secret store (org.freedesktop.secrets: gnome-keyring, KWallet,
// KeePassXC). The user's name for the server identifies a key. The functions wait for the store, because the
// user may have to unlock the store. Call these functions on a thread that may wait. A stop ends the wait.
// Open this file when the program forgets keys.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::remote {

/// All functions throw Failure if there is no such store, or if the store refuses. No message contains a key.

/// Returns nothing if the store has no key of this server.
std::optional<std::string> findSecret(const std::string& server, const std::stop_token& stop = {});
/// Replaces an older key.
void keepSecret(const std::string& server, const std::string& key, const std::stop_token& stop = {});
/// Removes a key. Does nothing if there is no key.
void forgetSecret(const std::string& server, const std::stop_token& stop = {});

}  // namespace spanscope::remote
