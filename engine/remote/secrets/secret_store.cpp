// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/secrets/secret_store.h"

#include "engine/base/error.h"

#include <libsecret/secret.h>

#include <memory>

namespace spanscope::remote {
namespace {

constexpr const char* kServerAttribute = "server";

const SecretSchema& schema() {
  static const SecretSchema kSchema = [] {
    SecretSchema made{};
    made.name = "org.spanscope.ServerKey";
    made.flags = SECRET_SCHEMA_NONE;
    made.attributes[0] = {kServerAttribute, SECRET_SCHEMA_ATTRIBUTE_STRING};
    return made;
  }();
  return kSchema;
}

struct Unreference {
  void operator()(GCancellable* cancellable) const { g_object_unref(cancellable); }
};
struct FreePassword {
  void operator()(gchar* password) const { secret_password_free(password); }
};

/// Ends a call after a stop.
class Cancelling {
 public:
  explicit Cancelling(const std::stop_token& stop)
      : m_cancellable(g_cancellable_new()), m_callback(stop, Cancel{m_cancellable.get()}) {}
  GCancellable* get() const { return m_cancellable.get(); }

 private:
  struct Cancel {
    GCancellable* cancellable;
    void operator()() const { g_cancellable_cancel(cancellable); }
  };
  std::unique_ptr<GCancellable, Unreference> m_cancellable;
  std::stop_callback<Cancel> m_callback;
};

/// `error`: the error of a call, which is freed here.
void refuse(GError* error) {
  if (error == nullptr) return;
  const std::string found = error->message == nullptr ? "an error" : error->message;
  g_error_free(error);
  throw Failure({/*id:desktops-secret-store*/ "the desktop's secret store",
                 {},
                 found,
                 "a service that stores keys, such as gnome-keyring"});
}

}  // namespace

std::optional<std::string> findSecret(const std::string& server, const std::stop_token& stop) {
  const Cancelling cancelling(stop);
  GError* error = nullptr;
  const std::unique_ptr<gchar, FreePassword> password(secret_password_lookup_sync(
      &schema(), cancelling.get(), &error, kServerAttribute, server.c_str(), nullptr));
  refuse(error);
  if (!password) return std::nullopt;
  return std::string(password.get());
}

void keepSecret(const std::string& server, const std::string& key, const std::stop_token& stop) {
  const Cancelling cancelling(stop);
  GError* error = nullptr;
  const std::string label = "Key of the server " + server + " (Spanscope)";
  secret_password_store_sync(&schema(), SECRET_COLLECTION_DEFAULT, label.c_str(), key.c_str(),
                             cancelling.get(), &error, kServerAttribute, server.c_str(), nullptr);
  refuse(error);
}

void forgetSecret(const std::string& server, const std::stop_token& stop) {
  const Cancelling cancelling(stop);
  GError* error = nullptr;
  secret_password_clear_sync(&schema(), cancelling.get(), &error, kServerAttribute, server.c_str(), nullptr);
  refuse(error);
}

}  // namespace spanscope::remote
