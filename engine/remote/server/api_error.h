// SPDX-License-Identifier: GPL-3.0-or-later
// Errors in the form of OpenAI's API: {"error": {"message", "type", "param", "code"}}. Open this file to add
// an error of the server.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace spanscope::server {

struct ApiError {
  int status = 400;     ///< of HTTP
  std::string message;  ///< a sentence for the user
  std::string type = "invalid_request_error";
  std::string param{};  ///< the wrong field; empty: null
  std::string code{};   ///< a word for programs; empty: null
};

/// Returns the JSON of an error on one line.
std::string errorJson(const ApiError& error);

/// Returns 503: this machine lacks memory for a request.
ApiError outOfMemory();
/// Returns 503: the server is ending.
ApiError serverIsEnding();

/// A request that is refused.
class ApiFailure : public std::exception {
 public:
  explicit ApiFailure(ApiError error) : m_error(std::move(error)) {}
  const ApiError& error() const { return m_error; }
  const char* what() const noexcept override { return m_error.message.c_str(); }

 private:
  ApiError m_error;
};

/// Throws ApiFailure for a wrong field of the body.
[[noreturn]] void refuseField(std::string param, std::string message, std::string code = {});

}  // namespace spanscope::server
