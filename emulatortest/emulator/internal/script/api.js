// The server-side API of stored procedures and triggers: getContext() and __. The host gives what it is made of:
// links, the queue of operations, and the request and response that the script may see.
(function (host) {
  "use strict";

  var codes = Object.freeze({
    BadRequest: 400, Forbidden: 403, NotFound: 404, Conflict: 409, PreconditionFailed: 412,
    RequestEntityTooLarge: 413, RetryWith: 449, InternalServerError: 500
  });
  var parse = JSON.parse, stringify = JSON.stringify, NativeError = Error;

  function refuse(message, code) { throw new NativeError(code || codes.BadRequest, message); }

  // ---- request and response ----

  // A message gives access to named properties. Those that the script may write have setX and appendX besides getX.
  function message(properties) {
    var self = {};
    function writable(name) {
      var property = properties[name];
      if (property === undefined) refuse("Cannot set new values: " + name);
      if (!property.writable) refuse("Not a writable property: " + name, codes.Forbidden);
      return property;
    }
    function size(property, value) {
      if (value === null || value === undefined || !property.most) return;
      var text = typeof value === "object" ? stringify(value) : String(value);
      if (text !== undefined && text.length > property.most) {
        refuse("The message would be too large because of \"" + property.name + "\". Return what there is with a continuation, and call the script again.",
          codes.RequestEntityTooLarge);
      }
    }
    function get(name) { return name === undefined ? undefined : (properties[name] || {}).value; }
    function set(name, value) {
      if (name === undefined) return;
      var property = writable(name);
      size(property, value);
      property.value = value;
    }
    function append(name, value) {
      if (name === undefined) return;
      var property = writable(name);
      var before = property.value;
      var after = before === null || before === undefined ? value : before + value;
      size(property, after);
      property.value = after;
    }
    var writes = false;
    Object.keys(properties).forEach(function (name) {
      properties[name].name = name;
      self["get" + name] = function () { return get(name); };
      if (properties[name].writable) {
        writes = true;
        self["set" + name] = function (value) { set(name, value); };
        self["append" + name] = function (value) { append(name, value); };
      }
    });
    self.getValue = get;
    if (writes) {
      self.setValue = set;
      self.appendValue = append;
    }
    return self;
  }

  var request = host.request && message(host.request);
  var response = host.response && message(host.response);

  // ---- operations ----

  function need(name, given, least) {
    if (given < least) refuse("The function \"" + name + "\" requires at least " + least + " argument(s) but was called with " + given + " argument(s).");
  }

  // rest sorts out (options, callback), of which either may be missing.
  function rest(options, callback) {
    if (callback === undefined && typeof options === "function") {
      callback = options;
      options = undefined;
    }
    if (options === undefined) options = {};
    if (typeof options !== "object" || options === null) refuse("The \"options\" parameter must be of type \"object\". Actual type is: \"" + typeof options + "\".");
    if (callback !== undefined && typeof callback !== "function") refuse("The \"callback\" parameter must be of type \"function\". Actual type is: \"" + typeof callback + "\".");
    return { options: options, callback: callback };
  }

  function checkCollection(link) {
    if (typeof link !== "string") refuse("Invalid collection link: \"" + link + "\".");
    var parts = link.split("/");
    if (parts.length < 4 || parts.length > 5 || (parts.length === 5 && parts[4] !== "") ||
        parts[0].toLowerCase() !== "dbs" || parts[2].toLowerCase() !== "colls") {
      refuse("Invalid collection link: \"" + link + "\".");
    }
    if (link !== host.selfLink && link !== host.altLink) outside(link);
  }

  function outside(link) {
    refuse("Function is not allowed to operate on resources outside current collection. Make sure that the link provided, \"" + link + "\", belongs to current collection.");
  }

  // document takes a document's link apart: by rid under the self link, by name under the alt link.
  function document(link) {
    if (typeof link !== "string") refuse("Invalid document link: \"" + link + "\".");
    var parts = link.split("/");
    if (parts.length < 6 || parts.length > 7 || (parts.length === 7 && parts[6] !== "") ||
        parts[0].toLowerCase() !== "dbs" || parts[2].toLowerCase() !== "colls" || parts[4].toLowerCase() !== "docs") {
      refuse("Invalid document link: \"" + link + "\".");
    }
    if (link.indexOf(host.selfLink) === 0) return { rid: parts[5] };
    if (link.indexOf(host.altLink + "/") === 0) return { id: parts[5] };
    outside(link);
  }

  // submit queues an operation. An error without a callback to take it ends the script.
  function submit(operation, callback, deliver) {
    return host.submit(operation, function (error, reply) {
      if (error) {
        var made = new NativeError(error.status, error.message);
        made.body = error.message;
        if (!callback) throw made;
        callback(made);
      } else if (callback) {
        deliver(reply);
      }
    });
  }

  function one(callback) {
    return function (reply) {
      callback(undefined, reply.options.notModified ? undefined : parse(reply.body), reply.options);
    };
  }

  function many(callback) {
    return function (reply) { callback(undefined, parse(reply.body), reply.options); };
  }

  // withID gives a document without an id one of its own, leaving the script's object as it is.
  function withID(body, options) {
    if (body === null || (typeof body !== "object" && typeof body !== "string")) {
      refuse("The document body must be an object or a string representing a JSON-serialized object.");
    }
    if (options.disableAutomaticIdGeneration !== true) {
      var object = typeof body === "string" ? parse(body) : body;
      if (!object.id) {
        object = Object.assign({}, object);
        object.id = host.newID();
        body = object;
      }
    }
    return typeof body === "object" ? stringify(body) : body;
  }

  var collection = {
    getSelfLink: function () { return host.selfLink; },
    getAltLink: function () { return host.altLink; },

    readDocument: function (link, options, callback) {
      need("readDocument", arguments.length, 1);
      var target = document(link), r = rest(options, callback);
      return submit({ kind: "read", target: target, ifNoneMatch: r.options.ifNoneMatch }, r.callback, one(r.callback));
    },
    readDocuments: function (link, options, callback) {
      need("readDocuments", arguments.length, 1);
      checkCollection(link);
      var r = rest(options, callback);
      return submit({ kind: "list", pageSize: r.options.pageSize, continuation: r.options.continuation }, r.callback, many(r.callback));
    },
    queryDocuments: function (link, query, options, callback) {
      need("queryDocuments", arguments.length, 2);
      checkCollection(link);
      if (typeof query !== "string" && (typeof query !== "object" || query === null)) {
        refuse("The \"filterQuery\" parameter must be of type \"string\" or \"object\". Actual type is: \"" + typeof query + "\".");
      }
      var r = rest(options, callback);
      var body = stringify(typeof query === "string" ? { query: query } : query);
      return submit({ kind: "query", body: body, pageSize: r.options.pageSize, continuation: r.options.continuation,
        enableScan: r.options.enableScan === true }, r.callback, many(r.callback));
    },
    createDocument: function (link, body, options, callback) {
      need("createDocument", arguments.length, 2);
      var r = rest(options, callback);
      body = withID(body, r.options);
      checkCollection(link);
      return submit({ kind: "create", body: body, indexAction: r.options.indexAction }, r.callback, one(r.callback));
    },
    upsertDocument: function (link, body, options, callback) {
      need("upsertDocument", arguments.length, 2);
      var r = rest(options, callback);
      body = withID(body, r.options);
      checkCollection(link);
      return submit({ kind: "upsert", body: body, etag: r.options.etag, indexAction: r.options.indexAction }, r.callback, one(r.callback));
    },
    replaceDocument: function (link, body, options, callback) {
      need("replaceDocument", arguments.length, 2);
      var target = document(link), r = rest(options, callback);
      if (typeof body === "object") body = stringify(body);
      return submit({ kind: "replace", target: target, body: String(body), etag: r.options.etag, indexAction: r.options.indexAction },
        r.callback, one(r.callback));
    },
    deleteDocument: function (link, options, callback) {
      need("deleteDocument", arguments.length, 1);
      var target = document(link), r = rest(options, callback);
      return submit({ kind: "delete", target: target, etag: r.options.etag }, r.callback,
        function (reply) { r.callback(undefined, reply.options); });
    }
  };

  ["createAttachment", "readAttachment", "readAttachments", "queryAttachments", "replaceAttachment", "upsertAttachment", "deleteAttachment"]
    .forEach(function (name) {
      collection[name] = function () { refuse("The function \"" + name + "\" is not supported by this emulator: attachments are not."); };
    });

  // ---- the query API: filter, map, pluck, sortBy, flatten, unwind ----

  // A stage turns a list of values into another one. Stages see one document at a time, but for sorting, which sees all.
  var stages = {
    filter: function (f) { return function (list) { return list.filter(function (x) { return f(x); }); }; },
    map: function (f) { return function (list) { return list.map(function (x) { return f(x); }).filter(function (x) { return x !== undefined; }); }; },
    flatten: function (shallow) {
      return function (list) {
        return shallow ? list.reduce(function (all, x) { return all.concat(x); }, []) : list;
      };
    },
    unwind: function (inner, combine) {
      return function (list) {
        var all = [];
        list.forEach(function (x) {
          var members = inner(x);
          if (!Array.isArray(members)) return;
          members.forEach(function (y) { all.push(combine ? combine(x, y) : [x, y]); });
        });
        return all;
      };
    }
  };

  // produce computes one page: whole documents until the page is full. What is sorted is computed whole, and pages are cut.
  function produce(plan, options) {
    var most = options.pageSize === -1 ? Infinity : options.pageSize || 100;
    var sorted = plan.some(function (step) { return step.sort; });
    var after = options.continuation || "", skip = 0;
    if (sorted && after) {
      skip = Number(after.replace(/^s1-/, ""));
      if (!(skip >= 0)) refuse("The continuation is not one of this query.");
      after = "";
    }
    var result = [];
    for (;;) {
      var page = host.next(after, sorted ? 1000 : 1);
      if (page.documents.length === 0) { after = ""; break; }
      after = page.after;
      var list = page.documents.map(function (text) { return parse(text); });
      for (var i = 0; i < plan.length && !plan[i].sort; i++) list = plan[i].run(list);
      list.forEach(function (x) { result.push(x); });
      if (!sorted && result.length >= most) break;
    }
    if (!sorted) return { feed: result, options: after ? { continuation: after } : {} };
    var step = 0;
    while (!plan[step].sort) step++;
    for (; step < plan.length; step++) {
      result = plan[step].sort ? host.sort(result, result.map(plan[step].sort), plan[step].descending) : plan[step].run(result);
    }
    var cut = result.slice(skip, most === Infinity ? undefined : skip + most);
    return { feed: cut, options: skip + cut.length < result.length ? { continuation: "s1-" + (skip + cut.length) } : {} };
  }

  function execute(plan, options, callback) {
    var r = rest(options, callback);
    var finish = r.callback || function (error, feed) {
      if (error) throw error;
      if (!response) refuse("The callback function must be provided for scenarios, such as pre-trigger, when response object is not available.");
      response.appendBody(stringify(feed));
    };
    var accepted = host.submit({ kind: "nothing" }, function () {
      var made;
      try {
        made = produce(plan, r.options);
      } catch (error) {
        return finish(error);
      }
      finish(undefined, made.feed, made.options);
    });
    return { isAccepted: accepted };
  }

  function predicate(f) {
    if (typeof f !== "function") refuse("The predicate/transform function must be provided.");
    return f;
  }

  // steps reads the arguments of each function of the query API: its step, and how many arguments that took.
  var steps = {
    filter: function (a) { return { take: 1, run: stages.filter(predicate(a[0])) }; },
    map: function (a) { return { take: 1, run: stages.map(predicate(a[0])) }; },
    pluck: function (a) {
      if (typeof a[0] !== "string" || !a[0]) refuse("The property name must be a string and cannot be empty.");
      return { take: 1, run: stages.map(function (x) { return x[a[0]]; }) };
    },
    sortBy: function (a) { return { take: 1, sort: predicate(a[0]) }; },
    sortByDescending: function (a) { return { take: 1, sort: predicate(a[0]), descending: true }; },
    flatten: function (a) {
      var given = typeof a[0] === "boolean";
      return { take: given ? 1 : 0, run: stages.flatten(given ? a[0] : false) };
    },
    unwind: function (a) {
      if (!a[0]) refuse("When using \"unwind\", \"collectionSelector\" must be used.");
      if (typeof a[0] !== "function") refuse("When using \"unwind\", \"collectionSelector\" must be a function.");
      if (a[0].length !== 1) refuse("\"collectionSelector\" requires one argument.");
      var combine = typeof a[1] === "function" ? a[1] : undefined;
      if (combine && combine.length < 2) refuse("\"resultSelector\" requires two arguments.");
      return { take: combine ? 2 : 1, run: stages.unwind(a[0], combine) };
    }
  };

  function chained(plan) {
    var link = { isAccepted: host.accepts() };
    Object.keys(steps).forEach(function (name) {
      link[name] = function () {
        var args = Array.from(arguments), step = steps[name](args), left = args.slice(step.take);
        left.forEach(function (x) {
          if (typeof x === "function") refuse("When using \"chain\", the callback parameter can only be provided on the \"value\" function.");
          if (x) refuse("When using \"chain\", options can only be provided on the call to the \"value\" function");
        });
        return chained(plan.concat([step]));
      };
    });
    link.value = function (options, callback) { return execute(plan, options, callback); };
    return link;
  }

  Object.keys(steps).forEach(function (name) {
    collection[name] = function () {
      var args = Array.from(arguments);
      if (args[0] === collection) args.shift();
      var step = steps[name](args);
      return execute([step], args[step.take], args[step.take + 1]);
    };
  });
  collection.chain = function () { return chained([]); };

  // ---- globals ----

  var context = {
    getCollection: function () { return collection; },
    abort: function (error) { host.abort(error); }
  };
  if (request) context.getRequest = function () { return request; };
  if (response) context.getResponse = function () { return response; };

  var alias = Object.create(collection);
  if (request) alias.request = request;
  if (response) alias.response = response;

  globalThis.ErrorCodes = codes;
  globalThis.getContext = function () { return context; };
  globalThis.__ = alias;
  globalThis.console = {
    log: function (format) {
      if (!host.logging) return;
      need("log", arguments.length, 1);
      var args = arguments, at = 1;
      if (args.length > 1 && typeof format !== "string") {
        refuse("First argument to console.log should be a string containing zero or more substitution strings.");
      }
      host.log(args.length === 1 ? String(format) : format.replace(/%(%|s)/g, function (_, c) { return c === "%" ? c : String(args[at++]); }));
    }
  };
})
