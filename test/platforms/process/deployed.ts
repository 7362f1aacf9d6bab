import type { Deployed, Place } from "../acceptance.ts";
import { Project, type Runtime, type ServerProcess } from "./project.ts";

/** A project whose `main.ts` serves the deployment of the acceptance tests. */
export async function openDeployment(runtime: Runtime): Promise<Project> {
  const project = await Project.open();
  await project.copy("test/platforms/deployment.ts");
  await project.copy("test/platforms/process/minute.ts");
  await project.write(
    "main.ts",
    `import "./minute.ts";
     import { serve } from "sluice-queue/${runtime}";
     import { deployment } from "./deployment.ts";
     await serve(deployment);`,
  );
  return project;
}

/** Ends a server by SIGTERM, as every container platform does. */
export async function end(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  const { status, description } = await server.ended;
  if (status !== 0) throw new Error(`the server ${description}\n${server.printed()}`);
}

/** Deploys by a command. A signal replaces the minute until the next sweep. */
export const deployedBy =
  (runtime: Runtime, command: string) =>
  async ({ env }: Place): Promise<Deployed> => {
    const project = await openDeployment(runtime);
    const server = await project.start(command, env);
    return {
      fetch: (request) => server.fetch(request),
      cron: async () => server.kill("SIGUSR2"),
      async stop() {
        try {
          await end(server);
        } finally {
          await project.close();
        }
      },
    };
  };
